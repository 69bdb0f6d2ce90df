"""How files and tables become columns: streams, dialects, records, columns."""

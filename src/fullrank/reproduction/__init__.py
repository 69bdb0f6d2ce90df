"""Tables and figures of the five documents, made again and judged."""

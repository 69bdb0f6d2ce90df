"""Models in files: bytes, header, layout."""

"""The same work on many cores or machines, by Ray Data: rows in, rows out, resumable."""

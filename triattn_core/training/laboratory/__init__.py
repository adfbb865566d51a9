"""Training of laboratory models on generated rows."""

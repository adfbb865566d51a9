"""Training of COIN, including its word vectors."""

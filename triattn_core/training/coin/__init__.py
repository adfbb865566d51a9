"""Training of COIN from its word vectors up."""

"""Training of taggers on frozen word vectors."""

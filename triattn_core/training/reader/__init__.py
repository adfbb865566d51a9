"""Training of QA readers on frozen word vectors."""

"""Training of sentence classifiers on frozen word vectors."""

"""Training of models of family stories."""

"""Training of translation models from nothing, sub-words too."""

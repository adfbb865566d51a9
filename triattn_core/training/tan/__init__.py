"""Training of TAN heads on frozen features."""

"""Training of models of *which two numbers make this one?*."""

"""Post-training of encoders."""

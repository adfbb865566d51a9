"""Checkpoints at work: batches, devices, explaining one example, evaluating a file, answer spans."""

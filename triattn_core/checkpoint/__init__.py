"""Checkpoints on disk: config, registry, metadata, loading and saving, verification."""

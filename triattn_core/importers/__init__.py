"""Traces from other sources: files of arrays, and Hugging Face models."""

"""What the figures share: the canvas base and its scripts, colours, tokens."""

"""Case mining: several checkpoints over the rows of a file, stored as one table."""

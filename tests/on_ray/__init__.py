"""Tests that start Ray: a package, so that its cluster ends with the last of them."""

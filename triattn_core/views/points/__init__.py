"""The strongest cells of a cube as points in space."""

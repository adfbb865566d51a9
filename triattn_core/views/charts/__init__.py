"""Charts of Altair: bars, lines, points and small grids."""

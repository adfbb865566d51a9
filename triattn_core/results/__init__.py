"""Published results next to the results measured here.

`published` reads the papers' tables, `measured` the records of our runs; `paper_comparison` joins both in one table,
`ranking_test` tests the order of the mechanisms, `curves` holds the points of sweeps, `notes` what to know before
comparing.  JSON and numbers only, without torch.
"""

"""Published results next to the results measured here.

`paper_results` reads the papers' tables, `run_records` the records of our runs; `paper_comparison` joins both in one
table, `mechanism_order` tests the order of the mechanisms, `curves` holds the points of sweeps, `notes` what to know
before comparing.  JSON and numbers only, without torch.
"""

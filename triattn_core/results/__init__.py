"""What papers print beside what was measured here.

`published` reads the papers' tables, `ours` the records of our runs; `beside` puts both into one table, `order` asks
whether the order of the mechanisms holds, `curves` draws on sweeps, `notes` says what to know before comparing.
JSON and numbers alone, without torch.
"""

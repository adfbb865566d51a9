"""How are two people of a story related?  Stories as CLUTRR has them (Sinha et al. 2019, arXiv 1908.06177)."""

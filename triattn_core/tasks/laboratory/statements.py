"""What several laboratory tasks say of what is proved, and of what is only observed."""

from __future__ import annotations

MATCH = "Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896"
COUNTING = (
    "any two of query, key and context fix the third, so a sum of pairwise scores f(q, k) + g(k, c) + h(q, c) has the "
    "same mean over true triples as over all triples, and cannot rank every true one first (by counting). For the "
    f"related Match3, one layer of two-way attention must grow with the length ({MATCH}, Theorem 7)."
)
SMALL = (
    "that two-way models of this size stay below what counts of payloads alone give, with one layer or with two, in as "
    "many steps and in ten times as many; larger ones might not."
)

"""What is proved of each task, with its source, and what is only observed: a sentence each."""

from __future__ import annotations

MATCH = "Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896"
COUNTING = (
    "any two of query, key and context fix the third, so a sum of pairwise scores f(q, k) + g(k, c) + h(q, c) has the "
    "same mean over true triples as over all triples, and cannot rank every true one first (by counting). For the "
    f"related Match3, one layer of two-way attention must grow with the length ({MATCH}, Theorem 7)."
)
SMALL = (
    "that two-way models of this size do not learn it in the same number of steps, with one layer or with two; larger "
    "or longer-trained ones might."
)
NOTES = {
    "false-friends": (COUNTING, SMALL),
    "planted-sum": (COUNTING, SMALL),
    "planted-xor": (COUNTING, SMALL),
    "match2": (
        f"one layer of two-way attention of constant width is enough ({MATCH}, Theorem 6).",
        "that all mechanisms learn it here, one layer of Bi late and suddenly, after 10,000 steps: it is the control.",
    ),
    "match3": (
        f"one layer of two-way attention fails unless width, heads and precision grow with the length ({MATCH}, "
        "Theorem 7; at any precision: Kozachinskiy et al. 2025, arXiv 2501.19215, Theorem 3.6). The theorems are "
        "asymptotic: at 8 numbers nothing is forbidden.",
        "that Tri of this size learns it at this length, from batches of 512 rows; from batches of 128 it did not.",
    ),
    "two-facts": (
        "composing two facts is beyond one two-way layer once the facts are many for its width, heads and precision "
        "(Peng et al. 2024, arXiv 2402.08164); at eight sentences nothing is forbidden.",
        "that one layer of Bi stops at guessing among the moves, and two layers do not. Pairs are enough for it in "
        "principle, so no gap is forced; and Tri finds it with additive relevance, not with scaled dot.",
    ),
}

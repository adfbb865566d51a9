"""What several laboratory tasks say of what is proved, and of what is only observed."""

from __future__ import annotations

MATCH = "Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896"
COUNTING = (
    "any two of query, key and context fix the third, so a sum of pairwise scores f(q, k) + g(k, c) + h(q, c) has the "
    "same mean over true triples as over all triples, and cannot rank every true one first (by counting). This limits "
    "the weights of three-way scores that are sums of pairwise scores, not the answer, which wide enough layers above "
    "may still find; the two-way models here give no score to a pair of key and "
    "context, and what they cannot do at this size is only observed. "
    f"For the related Match3 one layer of them must grow with the length ({MATCH})."
)
PAIRWISE = (
    "Tri trained with pairwise scores, (q·k + q·c + k·c) / √d, gets 17 to 18 % of false friends (chance 16.7), 28 "
    "to 32 % of the planted sum and 26 to 27 % of the planted XOR right (the most that counting payloads, without "
    "matching codes, can reach: 32 and 33), three seeds each."
)
SMALL = (
    "that two-way models of this size, with one layer or two, stay at chance in as many steps; in ten times as many, "
    "at the better of two rates, the best comes to what counting payloads gives and no further. Longer-trained or "
    "larger ones might. " + PAIRWISE
)

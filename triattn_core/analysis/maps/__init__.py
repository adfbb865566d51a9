"""Numbers on attention maps: comparison, ANOVA, token alignment, clusters, the MTSA tensor."""

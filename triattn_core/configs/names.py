"""Names of the entries of tables whose modules load torch, so that a config is read without it.

Each is that of the table named beside it, in its order; `tests/contracts/test_config_names.py` compares them.
"""

from __future__ import annotations

SIMILARITIES = (
    *("additive", "dot", "scaled_dot", "bilinear"),
    *("full_trilinear", "strassen", "tree", "determinant"),
)  # attention.tri_similarity
VALUES = (
    *("additive", "multiplicative", "bilinear", "plain"),
    *("context", "modulated", "value_and_product"),
)  # attention.contextual_value
FIXED = ("even", "mean_over_queries", "product_of_marginals")  # attention.fixed_weights
POOLING = ("mean", "mean_max")  # models.comparison
COIN_FUSIONS = ("gate", "simple")  # attention.coin
COIN_POOLINGS = ("heads", "max")  # models.coin_layers
QA_SIMILARITIES = (
    *("bilinear", "trilinear", "fnn", "concat_fnn", "dot", "cosine", "scaled_dot"),
    *("general1", "general2", "general3", "hadamard", "t_trilinear"),
)  # attention.qa_similarity
OUTPUTS = ("O_1", "O_2")  # attention.qa
FUSIONS = (
    *("bi_lstm", "bi_gru", "multi_cnn", "hierarchical_cnn"),
    *("multi_head", "disa", "bi_blosa", "mtsa"),
)  # models.fusion
ACTIVATIONS = ("relu", "elu")  # models.fusion.activations
SCALES = ("log_sigmoid", "identity")  # attention.tensorized
MASKS = ("forward", "backward", "distance", "none")  # attention.masks

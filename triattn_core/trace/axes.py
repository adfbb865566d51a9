"""The glossary: every axis and quantity of a trace, one sentence each.  Pages show these sentences on hover."""

from __future__ import annotations

AXES = {
    "head": "One of several attentions computed side by side, each with its own projections.",
    "query": "The token that looks: each query shares out its attention among the others.",
    "key": "The token that is looked at: its value goes into what the query becomes.",
    "context": "The token in whose light query and key are read: the third axis of Tri-Attention.",
    "feature": "One dimension of a token's vector.",
}

QUANTITIES = {
    "relevance": (
        "The score before the softmax: unbounded; where it goes in as it is, only differences within one query matter."
    ),
    "weight": "The share of a query's attention: not negative, and it sums to one over the axes it names.",
    "gate": "How much of a signal passes: between 0 and 1.",
    "contribution": "What a part adds to a score: signed.",
}

MECHANISMS = {
    "bi": "Bi-Attention: the relevance of a key to a query, context left out.",
    "bi_joint": "Bi-joint: two-way attention over key sequence and context together, the fair opponent of Tri.",
    "cbi": "C-Bi-Attention: each token carries its own context vector, then ordinary two-way attention.",
    "tri": "Tri-Attention: the relevance of key and context together to a query, one cube of weights.",
    "mtsa": "MTSA: a score for every pair of tokens and every feature; each head looks one way along the text.",
    "coin": "COIN: block by block, two-way attention between tokens with what each found in its own sentence added.",
}

TAN_MECHANISMS = ("bi", "bi_joint", "cbi", "tri")  # those of the Tri-Attention network, whose maps can be compared

MECHANISM_LABELS = {
    "bi": "Bi",
    "bi_joint": "Bi-joint",
    "cbi": "C-Bi",
    "tri": "Tri",
    "mtsa": "MTSA",
    "coin": "COIN",
    "multi_head": "multi-head",
    "bi_lstm": "Bi-LSTM",
    "bi_gru": "Bi-GRU",
    "multi_cnn": "Multi-CNN",
    "hierarchical_cnn": "Hierarchical CNN",
    "disa": "DiSA",
    "bi_blosa": "Bi-BloSA",
    "baseline": "baseline reader",
    "bidaf": "BiDAF",
    "dcn": "DCN",
    "qanet": "QANet",
}

# Functions of readers, as the tables of the T-trilinear paper write and order them.
FUNCTION_LABELS = {
    "bilinear": "bilinear",
    "trilinear": "trilinear",
    "fnn": "FNN",
    "concat_fnn": "concat-FNN",
    "dot": "dot-product",
    "cosine": "cosine",
    "scaled_dot": "scaled dot-product",
    "general1": "general-1",
    "general2": "general-2",
    "general3": "general-3",
    "hadamard": "Hadamard",
    "t_trilinear": "T-trilinear",
}

# What a coordinate of an axis is called in a trace: `query_token`, `query_start`, …
COORDINATES = {
    "token": "the text it stands for, as its reader wrote it; a word piece that goes on begins with ##",
    "text": "the name of the text it was cut from, empty for special tokens",
    "start": "character offset of its first character in that text",
    "end": "character offset after its last character",
    "special": "1 for [CLS] and [SEP], 2 for a sink that a reader hides",
    "role": "of an axis along which several roles stand, which one it belongs to: key or context",
    "segment": "the turn, sentence or short text it belongs to, empty for special tokens",
    "tokens": "how many tokens it stands for: a long text is read in cells, the averages of a few tokens each",
    "label": "of a folded axis: what the group of cells is called, such as turn 4",
    "cells": "of a folded axis: how many cells of the model the group joins",
}
RANDOM = "random"  # the control beside methods of attribution, in tables and figures: none of them can have its name
TRUE_CELLS = "true_cells"  # attribute of an array: the cells that are known to carry the answer, outlined in views

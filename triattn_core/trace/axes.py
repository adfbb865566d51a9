"""The glossary: every axis and quantity of a trace, one sentence each.  Pages show these sentences on hover."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

AXES = {
    "head": "One of several attentions computed side by side, each with its own projections.",
    "query": "The token that attends: its weights sum to one over the others.",
    "key": "The token attended to: its value goes into the output of the query.",
    "context": "The token under which query and key are scored: the third axis of Tri-Attention.",
    "feature": "One dimension of a token's vector.",
}

TOKEN_AXES = tuple(axis for axis in AXES if axis not in ("head", "feature"))  # along which tokens stand, queries first
CUBE = ("query", "key", "context")  # the axes of Tri-Attention's weights
NOT_SHARED = ("head", "query", "feature")  # no distribution of a model's own runs over these


def further_axes(dims: Iterable[Hashable]) -> list[str]:
    """The axes of an array beside heads, queries, keys and features: the context, and those of a higher order."""
    return [str(axis) for axis in dims if axis not in (*NOT_SHARED, "key")]


QUANTITIES = {
    "relevance": (
        "The score before the softmax: unbounded; where the softmax takes it as it is, only differences within one "
        "query matter."
    ),
    "weight": "The share of a query's attention: not negative; it sums to one over the axes it names.",
    "gate": "How much of a signal passes: between 0 and 1.",
    "contribution": "What a part adds to a score: signed.",
}

MECHANISMS = {
    "bi": "Bi-Attention: the relevance of a key to a query, context left out.",
    "bi_joint": "Bi-joint: two-way attention over key sequence and context together, the fair comparison for Tri.",
    "cbi": "C-Bi-Attention: each token carries its own context vector, then ordinary two-way attention.",
    "tri": "Tri-Attention: the relevance of key and context together to a query, one cube of weights.",
    "mtsa": "MTSA: a score for every pair of tokens and every feature; each head attends forward or backward only.",
    "coin": "COIN: block by block, two-way attention between tokens, each with the context of its own sentence added.",
}

OTHER = "other"  # in place of a mechanism: a model of others, which has its own name alone

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

# Coordinates of an axis; in a trace they are named `query_token`, `query_start`, …
COORDINATES = {
    "token": "the text it stands for, as it was written; a word piece that continues a word begins with ##",
    "word": "the number of the word it belongs to; where this is given, token is what it is called, without a mark",
    "text": "the name of the text it was cut from, empty for special tokens",
    "start": "character offset of its first character in that text",
    "end": "character offset after its last character",
    "special": "1 for [CLS] and [SEP], 2 for a sink that you chose to hide",
    "role": "of an axis along which several roles stand, which it belongs to: key, context, or the query's own text",
    "segment": "the turn, sentence or short text it belongs to, empty for special tokens",
    "tokens": "how many tokens it stands for: a long text is read in chunks, the averages of a few tokens each",
    "label": "of a grouped axis: what the group is called, such as turn 4",
    "patch_row": "of a picture: the row of patches that the token is in, from 0; -1 for a token that is no patch",
    "patch_column": "of a picture: its column, likewise",
    "cells": "of a grouped axis: how many positions of the model the group joins",
}
MASKED = "masked"  # coordinate of a cube: bool [query, key, context], True for each cell that a mask leaves out
RANDOM = "random"  # name of the control in tables and figures of attribution: no method may use it
TRUE_CELLS = "true_cells"  # attribute of an array: the cells that are known to carry the answer, outlined in views
GENERATED = "generated"  # in meta: how many tokens the model wrote, which are the queries
WITHOUT_ATTENTION = "without_attention"  # in meta: the layers that have none, from 0, comma-separated

"""Activations of the fully connected layers of sentence models and their blocks, by the names of their settings."""

from __future__ import annotations

from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "elu": nn.ELU}

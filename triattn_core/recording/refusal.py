"""Why a model has no attention to show, in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch import nn

# By the type of a Hugging Face model.
REASONS = {
    "fnet": "mixes tokens by a Fourier transform: there is no attention to show",
    "mamba": "is a state-space model: there is no attention to show",
    "mamba2": "is a state-space model: there is no attention to show",
    "falcon_mamba": "is a state-space model: there is no attention to show",
    "rwkv": "is a recurrent model: its states are no attention between tokens",
    "xlstm": "is a recurrent model: its states are no attention between tokens",
    "yoso": "estimates attention by hashing and never forms a weight",
    "mra": "approximates attention at several resolutions and never forms a map of tokens",
    "reformer": "attends within hash buckets, whose order differs from that of the tokens",
}


def explain_absence(model: nn.Module) -> str:
    """Returns the reason why nothing was recorded of a model that ran, or that it did not run."""
    name = type(model).__name__
    kind = str(getattr(getattr(model, "config", None), "model_type", ""))
    if kind in REASONS:
        return f"{kind} {REASONS[kind]}"
    return (
        f"{name}: no attention was seen in the block: the model did not run there, `select` left all of it out, or no"
        " softmax of it weighs values"
    )


def explain_landmarks(model: nn.Module, shapes: Iterable[Sequence[int]]) -> str:
    """Returns the reason why recorded maps are none of tokens by tokens; empty where they are.

    shapes: of the weights that were recorded.  Nyströmformer attends by landmarks on texts longer than these are many:
    what it uses is a product of three maps, one of them the inverse of another.
    """
    landmarks = getattr(getattr(model, "config", None), "num_landmarks", None)
    if landmarks is None or not any(landmarks in shape[-2:] and shape[-1] != shape[-2] for shape in shapes):
        return ""
    return (
        f"{type(model).__name__}: on a text of this length attention goes by {landmarks} landmarks: no map of tokens by"
        " tokens is formed; a shorter text has one"
    )

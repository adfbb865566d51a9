"""Why a model has no attention to show, in one line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite

import torch
from torch import nn

from triattn_core.recording.module_stack import Running

# By the type of a Hugging Face model.
REASONS = {
    "fnet": "mixes tokens by a Fourier transform: there is no attention to show",
    "mamba": "is a state-space model: there is no attention to show",
    "mamba2": "is a state-space model: there is no attention to show",
    "falcon_mamba": "is a state-space model: there is no attention to show",
    "rwkv": "is a recurrent model: its states are no attention between tokens",
    "xlstm": "is a recurrent model: its states are no attention between tokens",
    "yoso": "weighs values by the chance that hashes of query and key meet, (1 - arccos(q·k) / π)^τ, or by such hashes:"
    " what is no softmax is not followed",
    "mra": "approximates attention at several resolutions by a kernel of CUDA, without which it returns zeros, and"
    " forms no map of tokens",
}
# What a config of Hugging Face calls layers that form no weights between tokens.
UNATTENDING = {"linear_attention", "conv", "mamba", "recurrent", "moe", "mlp", "sparse", "dense"}
# How to have a model of a type attend to all at once.
WHOLE = dict.fromkeys(("big_bird", "bigbird_pegasus"), '; attention_type="original_full" in its config attends to all')


def explain_absence(model: nn.Module, seen: Sequence[str] = (), ran: bool = False) -> str:
    """Returns the reason why nothing was recorded of a model that ran, or that it did not run.

    ran: whether a module was seen with an input.  seen: reasons that were seen there, such as that of `explain_unseen`;
    what is known of the model's type comes before.
    """
    name = type(model).__name__
    config = getattr(model, "config", None)
    kind = str(getattr(config, "model_type", ""))
    if kind in REASONS:
        return f"{kind} {REASONS[kind]}"
    if reason := explain_layer_types(config):
        return reason
    if reason := next(filter(None, seen), ""):
        return f"{name}: {reason}"
    if ran:
        return f"{name}: no attention was seen: it ran, but no softmax of what was selected weighs values"
    return f"{name}: no attention was seen in the block: the model did not run there"


def explain_layer_types(config: object) -> str:
    """Returns the reason why a hybrid has no attention if, by its config, none of its layers attends; else empty."""
    names = ("layer_types", "layers_block_type")
    kinds = next((kinds for name in names if (kinds := getattr(config, name, None))), ())
    if not kinds or not UNATTENDING.issuperset(kinds):
        return ""
    listed = ", ".join(kind.replace("_", " ") for kind in sorted(set(kinds)))
    return f"its config names {len(kinds)} layers, all of them {listed}: there is no attention to show"


def explain_compiled(model: nn.Module, error: Exception) -> str:
    """Returns the reason why a model that a compiler has to take as a whole cannot be watched; empty for other errors.

    `torch.compile` follows what watches a model into the compiled code, and stops there.
    """
    if not type(error).__module__.startswith("torch._dynamo"):
        return ""
    name = type(model).__name__
    if "flex_attention" in str(error):
        return (
            f"{name} runs flex attention, which is compiled as a whole and cannot be watched: another implementation of"
            ' the same attention can, such as model.set_attn_implementation("sdpa")'
        )
    return f"{name}: compiled code cannot be watched; record the model before torch.compile"


def explain_pieces(model: nn.Module, visits: Sequence[Running]) -> str:
    """Returns that some modules attend in pieces that are not put together; empty where there are none.

    visits: of these modules.  Which tokens the keys of a piece are, such as random blocks or ones that are shifted by
    half a block, cannot be seen from its weights.
    """
    paths = list(dict.fromkeys(running.path or "the model" for running in visits))
    if not paths:
        return ""
    if isinstance(visits[0].module, torch.jit.ScriptModule):
        return (
            f"{paths[0]} is TorchScript, which takes an einsum of weights and two values apart: that cube is not put"
            " together, and not shown; record the module it was made from"
        )
    more = f" and {len(paths) - 1} more attend" if len(paths) > 1 else " attends"
    kind = str(getattr(getattr(model, "config", None), "model_type", ""))
    way = WHOLE.get(kind, "")
    return f"{paths[0]}{more} in blocks: the pieces of such a map are not put together, and not shown{way}"


def explain_unseen(model: nn.Module, paths: Collection[str]) -> str:
    """Returns that modules attend without a softmax, which is not shown; empty where there are none.

    paths: of modules whose product of two projections, one row and one column a token, meets values without a softmax.
    """
    if not paths:
        return ""
    first = next(iter(paths)) or type(model).__name__
    more = f" and {len(paths) - 1} more weigh" if len(paths) > 1 else " weighs"
    return f"{first}{more} values by a product of two projections without torch.softmax: that attention is not shown"


def explain_lost(model: nn.Module, lost: Iterable[tuple[str, Sequence[int]]]) -> str:
    """Returns that weights were lost on their way to the values; empty where none were.

    lost: module and shape of each softmax of tokens over tokens that met none.
    """
    first = dict.fromkeys((path or type(model).__name__, " × ".join(map(str, shape))) for path, shape in lost)
    if not first:
        return ""
    path, shape = next(iter(first))
    others = len({path for path, _ in first}) - 1
    more = f", nor one of {others} more modules" if others else ""
    return f"A softmax of {path} ({shape}){more} was not seen to weigh values: what follows it is not read"


def explain_unread(model: nn.Module, unread: Mapping[str, str]) -> str:
    """Returns why modules were left alone that have no numbers to read; empty where there are none.

    unread: the reasons by module, see `tensors.without_numbers`.
    """
    for path, reason in unread.items():
        others = f", like {len(unread) - 1} more modules," if len(unread) > 1 else ""
        return f"{path or 'the model'}{others} {reason}: it is not recorded"
    return ""


def explain_run(step: int, runs: int) -> str:
    """Returns which run of the model, from step 0, a trace is of; empty where it ran once."""
    if runs < 2:
        return ""
    return f"The model ran {runs} times: this is run {step + 1} of {runs}; trace(step=…) shows another, counted from 0."


def explain_gaps(layers: Sequence[int], count: int) -> str:
    """Returns which of so many layers have no attention; empty where all have."""
    if not layers:
        return ""
    few = ", ".join(map(str, layers[:8])) + (" …" if len(layers) > 8 else "")
    return f"{len(layers)} of {count} layers, counted from 0, have no attention: {few}."


def explain_streams(model: nn.Module, attentions: Iterable[tuple[str, Sequence[int]]]) -> str:
    """Returns which heads are of which stream of ProphetNet's decoder; empty for other models.

    attentions: the module and the shape of the weights of each, of the streams [batch, stream, head, query, key].
    """
    config = getattr(model, "config", None)
    if "prophetnet" not in str(getattr(config, "model_type", "")):
        return ""
    for path, shape in attentions:
        if len(shape) == 5 and shape[1] == getattr(config, "ngram", 0):
            return (
                f"The {shape[1] * shape[2]} heads of {path} are {shape[1]} n-gram streams of {shape[2]} heads each:"
                " stream k predicts the k-th token after the query; its keys are the tokens, then its own states"
            )
    return ""


def explain_fused(error: float, apart: float = 0.0) -> str:
    """Returns by how much the fused operation of a module, which gave the output, differs from what was recorded.

    apart: the same where it is more than rounding; infinite where one of them alone is no number.
    """
    if not error:
        return ""
    ends = f"; both agree to {error:.1g}"
    if apart:
        by = f"they differ by {apart:.1g}" if isfinite(apart) else "one of them made what is not a number"
        ends = f"; {by}, so that these are not the weights of the output"
    return (
        "torch runs nn.TransformerEncoderLayer and nn.MultiheadAttention as one fused operation, which cannot be"
        f" watched: they ran by it, for the output, and once more by parts, for the weights{ends}"
    )


def explain_dropout(rate: float) -> str:
    """Returns that dropout changed the weights; empty where it did not."""
    if not rate:
        return ""
    return (
        f"The model was in training mode: dropout set {100 * rate:.3g} % of its weights to zero at random and scaled"
        " the others; call model.eval() before recording"
    )


def explain_landmarks(model: nn.Module, shapes: Collection[Sequence[int]]) -> str:
    """Returns the reason why recorded maps are none of tokens by tokens; empty where they are.

    shapes: of the weights that were recorded.  Nyströmformer attends by landmarks on texts longer than these are many:
    what it uses is a product of three maps, one of them the inverse of another.  Reformer attends by chunks [batch,
    head, chunk, query, key] on longer texts, which it sorts by hashes before.
    """
    config, name = getattr(model, "config", None), type(model).__name__
    if getattr(config, "model_type", "") == "reformer" and any(len(shape) > 4 for shape in shapes):
        return (
            f"{name}: on a text of this length attention goes by chunks, some of them of hash buckets, whose order is"
            " not that of the tokens; a text of one chunk has a map"
        )
    landmarks = getattr(config, "num_landmarks", None)
    if landmarks is None or not any(landmarks in shape[-2:] and shape[-1] != shape[-2] for shape in shapes):
        return ""
    return (
        f"{name}: on a text of this length attention goes by {landmarks} landmarks: no map of tokens by tokens is"
        " formed; a shorter text has one"
    )

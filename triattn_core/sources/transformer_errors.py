"""What a Hugging Face model raises while it runs, as one line, and a model that reads no text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from triattn_core.errors import CheckpointError, InputError, TraceError, TriattnError, cause
from triattn_core.inference.device import memory_guard
from triattn_core.recording.table_rows import describe_lookup


@contextmanager
def one_line(name: str, model: Any, reads: str = "text", unattending: str = "") -> Iterator[None]:
    """Turn any exception of a model into an InputError of one line, and what the machine lacks into its own.

    reads: what it was given; unattending: why it has no attention, if its config says so.
    """
    try:
        with memory_guard(f"this {reads}"):
            yield
    except TraceError as error:
        raise InputError(f"{name}: {error}") from None
    except TriattnError:
        raise
    except Exception as error:  # each model has its own
        first = (str(error).strip().splitlines() or [""])[0]
        reason = cause(error) or f"{type(error).__name__}: {first}"
        if unattending:  # such models may end in an error of the library's, since nothing fills their cache
            raise InputError(f"{name}: {unattending}") from None
        if isinstance(error, IndexError) and (lookup := describe_lookup(error, model)):
            raise InputError(f"{name}: {lookup}") from None
        kind = model.config.model_type
        raise InputError(f"{name}: this {kind} model does not run on {reads} alone: {reason[:200]}") from None


def refuse_other_senses(name: str, config: Any) -> None:
    """Raises CheckpointError for a model that reads pictures or sound and no text."""
    from transformers import MODEL_MAPPING

    reads = getattr(MODEL_MAPPING.get(type(config), None), "main_input_name", "")
    if reads == "pixel_values" and "vocab_size" not in config.get_text_config().to_dict():
        raise CheckpointError(f"{name}: {config.model_type} reads pictures, not text: name one with `--image`")
    if reads in ("input_values", "input_features"):
        raise CheckpointError(f"{name}: {config.model_type} reads sound, not text: run it in Python inside `record`")

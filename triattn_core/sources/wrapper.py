"""Settings that a wrapper of sentence-transformers keeps beside a model: those that change what the model reads are
taken, and all others are named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULE = "sentence_{}_config.json"  # of its module that holds the model
KINDS = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
MODULES, WRAPPER = "modules.json", "config_sentence_transformers.json"
# Files of other wrappers, none of which is read, with what they hold.
OTHERS = {"config_setfit.json": "SetFit's classifier", "artifact.metadata": "ColBERT's lengths and markers"}


def apply_wrapper(tokenizer: Any, where: str, local: bool) -> list[str]:
    """Gives a tokenizer the length and the lower case that a wrapper beside its model asks for.

    Returns a note of what was read and what was not; none where there is no wrapper.
    """
    read: list[str] = []
    unread: list[str] = []
    for kind in KINDS:
        settings = _load(where, MODULE.format(kind), local)
        if isinstance(settings, dict):
            read, ignored = _apply(tokenizer, settings)
            read, unread = [f"{' and '.join(read)} ({MODULE.format(kind)})"] if read else [], ignored
            break
    unread += _activation(_load(where, "config.json", local))
    unread += [*_modules(_load(where, MODULES, local)), *_prompts(_load(where, WRAPPER, local))]
    unread += [f"{what} ({file})" for file, what in OTHERS.items() if _load(where, file, local) is not None]
    taken = f"Read from the wrapper beside the model: {', '.join(read)}. " if read else ""
    left = f"Not read: {'; '.join(unread)}." if unread else ""
    return [(taken + left).strip()] if read or unread else []


def _apply(tokenizer: Any, settings: dict[str, Any]) -> tuple[list[str], list[str]]:
    """What is taken of the settings of its module, and what is not."""
    read, unread = [], []
    length = settings.get("max_seq_length")
    if isinstance(length, int) and not isinstance(length, bool) and length > 0:
        tokenizer.model_max_length = min(tokenizer.model_max_length, length)
        read.append(f"at most {length} tokens")
    if settings.get("do_lower_case") is True:
        if getattr(tokenizer, "is_fast", False):
            _lower(tokenizer.backend_tokenizer)
            read.append("lower case")
        else:
            unread.append("lower case, which this tokenizer does not take")
    return read, unread


def _lower(backend: Any) -> None:
    """Has a tokenizer lower the case of a text before all else; offsets are still those of the text."""
    from tokenizers import normalizers

    own = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *own])


def _modules(modules: Any) -> Iterator[str]:
    """What runs after the model, by the list of the wrapper's modules."""
    kinds = [str(module.get("type", "")).rpartition(".")[2] for module in modules or () if isinstance(module, dict)]
    if later := [kind.lower() for kind in kinds if kind not in ("", "Transformer")]:
        yield f"{', '.join(later)} ({MODULES})"


def _activation(config: Any) -> Iterator[str]:
    """What a cross-encoder makes of the model's scores, in the form of one or another version of the wrapper."""
    config = config if isinstance(config, dict) else {}
    own = config.get("sentence_transformers")
    name = own.get("activation_fn") if isinstance(own, dict) else config.get("sbert_ce_default_activation_function")
    kind = str(name or "").rpartition(".")[2]
    if kind and kind != "Identity":
        yield f"{kind} of its scores (config.json)"


def _prompts(settings: Any) -> Iterator[str]:
    """Prompts that the wrapper writes before a text."""
    settings = settings if isinstance(settings, dict) else {}
    prompts = settings.get("prompts") if isinstance(settings.get("prompts"), dict) else {}
    texts = {name: text for name, text in prompts.items() if isinstance(text, str) and text}
    if not texts:
        return
    default = texts.get(settings.get("default_prompt_name"))
    listed = ", ".join(f"{name} {json.dumps(text, ensure_ascii=False)}" for name, text in list(texts.items())[:3])
    more = f" and {len(texts) - 3} more" if len(texts) > 3 else ""
    yield f"{'the default prompt' if default else 'prompts'}, to be written before the text ({WRAPPER}: {listed}{more})"


def _load(where: str, file: str, local: bool) -> Any:
    """What a JSON file of a folder, or of a model by its name, holds; None where there is none."""
    path: Path | str | None = Path(where) / file
    if not Path(where).is_dir():
        path = _cached(where, file, local)
    try:
        return json.loads(Path(path).read_text("utf-8")) if path else None
    except (OSError, ValueError, RecursionError):
        return None


def _cached(name: str, file: str, local: bool) -> str | None:
    from transformers.utils import cached_file

    try:
        return cached_file(name, file, local_files_only=local)
    except OSError:
        return None

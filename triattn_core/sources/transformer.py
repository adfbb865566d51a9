"""Load a model of Hugging Face with its tokenizer, from a local folder or by its name on the hub.

It runs in its default implementation.  Code of models is never run (`trust_remote_code` is off).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import torch

from triattn_core.cached import cached_property
from triattn_core.checkpoint.hub import OFFERED, hub_allowed
from triattn_core.checkpoint.transformer_folder import is_transformer
from triattn_core.errors import CheckpointError, cause
from triattn_core.inference.device import choose_device, memory_guard
from triattn_core.trace.from_array import LONGEST

DAMAGED = "its files cannot be read: one of them is damaged, or is not what its name says"
NEXT_TOKEN = "next token"


@dataclass(frozen=True)
class Transformer:
    """A model with its tokenizer.  head: what it predicts, `labels`, `next token` or nothing; notes: on loading it."""

    name: str
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)
    head: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of its weights."""
        digest = sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode() + tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    @property
    def device(self) -> str:
        return str(self.model.device)

    @property
    def has_decoder(self) -> bool:
        """Whether it has a decoder that reads an encoder."""
        return "decoder_input_ids" in signature(self.model.forward).parameters

    @property
    def longest(self) -> int:
        """The most tokens that it reads and that are drawn."""
        positions = getattr(self.model.config, "max_position_embeddings", None) or LONGEST
        offset = 2 if self.model.config.model_type in ("roberta", "xlm-roberta", "camembert") else 0
        limits = (LONGEST, self.tokenizer.model_max_length, positions - offset)
        return min(limit for limit in limits if limit > 0)  # XLNet's is -1: none


def is_transformer_folder(name: str) -> bool:
    """Whether a folder has a config of Hugging Face's: it names the type of its model."""
    try:
        config = json.loads((Path(name).expanduser() / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return is_transformer(config)


def load_transformer(name: str, device: str | None = None, local: bool | None = None) -> Transformer:
    """Load a model from a folder or, if there is none, by its name on the hub.  local: use only files downloaded
    before; None follows `hub_allowed`, by which nothing is downloaded by default.

    Raises CheckpointError, in one line: no such model, gated, offline, damaged, or a kind without attention.
    """
    local = not hub_allowed() if local is None else local
    folder = Path(name).expanduser()
    if not folder.is_dir() and ("/" in name.strip("/") or "\\" in name) and folder.parent.is_dir():
        raise CheckpointError(f"{name}: no such folder")
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise CheckpointError(f"{name}: no config.json there: expected a folder as save_pretrained writes it")
    where = str(folder) if folder.is_dir() else name
    with _one_line(name, folder.is_dir(), local), _suppress_output():
        return _load(name, where, choose_device(device), local or folder.is_dir())


def _load(name: str, where: str, device: str, local: bool) -> Transformer:
    from transformers import AutoConfig, AutoTokenizer

    options = {"local_files_only": local, "trust_remote_code": False}
    config = AutoConfig.from_pretrained(where, **options)
    tokenizer = AutoTokenizer.from_pretrained(where, **options)
    _require_vocabulary(name, where, tokenizer)
    kind, head = _auto_class(config)
    model, info = kind.from_pretrained(where, output_loading_info=True, **options)
    missing = sorted(info["missing_keys"])
    notes: tuple[str, ...] = ()
    if missing and head:
        notes, head = (f"The weights of its head ({missing[0]}, …) are not in the file: nothing is predicted.",), ""
    elif missing and not all("pooler" in key for key in missing):
        raise CheckpointError(f"{name}: {len(missing)} weights are missing, such as {missing[0]}")
    with memory_guard(f"{name} on {device}"):
        model = model.to(device).eval()
    return Transformer(name.rstrip("/").rsplit("/", 1)[-1] or name, model, tokenizer, head, notes)


def _require_vocabulary(name: str, where: str, tokenizer: Any) -> None:
    """Raises CheckpointError for the empty tokenizer that the library makes where it finds no tokenizer files.

    Tokenizers of bytes or characters have no file of a vocabulary.
    """
    own_files = getattr(tokenizer, "vocab_files_names", {}).values()
    if not own_files and not tokenizer.is_fast:
        return
    files = sorted({"tokenizer.json", *own_files})
    saved = not Path(where).is_dir() or any((Path(where) / file).is_file() for file in files)
    if not saved or set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
        problem = "its tokenizer knows no words" if saved else f"no tokenizer files there ({' or '.join(files)})"
        raise CheckpointError(f"{name}: {problem}: save it beside the model with tokenizer.save_pretrained(folder)")


def _auto_class(config: Any) -> tuple[Any, str]:
    """The class that loads a model with its saved head, and what the head predicts."""
    import transformers

    saved = " ".join(config.architectures or ())
    if "ForSequenceClassification" in saved:
        return transformers.AutoModelForSequenceClassification, "labels"
    if saved.endswith("EncoderModel") and hasattr(transformers, saved):  # half of an encoder-decoder
        return getattr(transformers, saved), ""
    if config.is_encoder_decoder and type(config) in transformers.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING:
        bare = getattr(transformers.MODEL_MAPPING.get(type(config), None), "__name__", "")
        if saved != bare:
            return transformers.AutoModelForSeq2SeqLM, NEXT_TOKEN
    if ("CausalLM" in saved or "LMHeadModel" in saved) and not config.is_encoder_decoder:
        return transformers.AutoModelForCausalLM, NEXT_TOKEN
    return transformers.AutoModel, ""


@contextmanager
def _suppress_output() -> Iterator[None]:
    """Suppress warnings and progress bars of the library; our notes say what matters."""
    from transformers.utils import logging as library

    level, had_bars = library.get_verbosity(), library.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    library.set_verbosity_error()
    library.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        library.set_verbosity(level)
        if had_bars:
            library.enable_progress_bar()


@contextmanager
def _one_line(name: str, folder: bool, local: bool) -> Iterator[None]:
    """Turn any exception of a library into a CheckpointError of one line."""
    try:
        yield
    except CheckpointError:
        raise
    except Exception as error:  # each of several libraries has its own
        reason = cause(error).split(". ")[0][:200] or DAMAGED
        if "gated" in str(error).lower():
            reason = "a gated model: its owner must let you in, and `hf auth login` say who you are"
        elif not folder and ("offline" in str(error).lower() or "connect" in str(error).lower() or local):
            problem = f"it was not fetched before; {OFFERED}" if local else "the hub cannot be reached"
            reason = f"no such folder, and {problem}: name a folder that has config.json, tokenizer and weights"
        raise CheckpointError(f"{name}: {reason}") from None

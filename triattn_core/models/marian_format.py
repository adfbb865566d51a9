"""A translation model with multi-head attention in Hugging Face's own format.

    python -m triattn_core.models.marian_format CHECKPOINT FOLDER

writes a MarianMTModel that computes the same, with its tokenizer.

MarianMT is the same network (post-normalised, sinusoids, one table) but for the order of features in its sinusoids:
sines first, then cosines.  So all features of the residual stream are put into that order.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, cast

import torch
import transformers
from torch import Tensor

from triattn_core.checkpoint.bundle import Bundle, load
from triattn_core.errors import ConfigError
from triattn_core.models.coin import TOKENIZER
from triattn_core.models.translation import TranslationModel
from triattn_core.text.sub_words import SubWords

POSITIONS = 1024  # MarianMT has a table of them
NAMES = {"pad": "pad", "unk": "unk", "eos": "sep", "cls": "cls", "mask": "mask"}  # of special tokens, theirs and ours
PROJECTIONS = {"query": "q_proj", "key": "k_proj", "value": "v_proj"}


def to_marian(bundle: Bundle) -> Any:
    """The same network as a MarianMTModel.  Raises ConfigError for another encoder than multi-head, or an odd width."""
    settings, sub_words = bundle.config.model, cast(SubWords, bundle.tokenizer)
    if bundle.config.kind != "translation" or settings.mechanism != "multi_head":
        raise ConfigError(f"{bundle.name}: only a translation model with multi-head attention has this format")
    if settings.out % 2:
        raise ConfigError(f"{bundle.name}: the width of its layers, {settings.out}, is odd")
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in (
            ("layers", settings.layers),
            ("attention_heads", settings.heads),
            ("ffn_dim", settings.feed_forward),
        )
    }
    config = transformers.MarianConfig(
        vocab_size=len(sub_words), d_model=settings.out, activation_function="relu", scale_embedding=True,
        max_position_embeddings=POSITIONS, dropout=1 - settings.keep,
        attention_dropout=1 - settings.attention_keep, pad_token_id=sub_words.special["pad"],
        eos_token_id=sub_words.end, decoder_start_token_id=sub_words.start, forced_eos_token_id=sub_words.end,
        **sides,
    )  # fmt: skip
    model: Any = transformers.MarianMTModel(config)
    model = model.to(next(bundle.model.parameters()).dtype).eval()
    missing, unexpected = model.load_state_dict(tensors(cast(TranslationModel, bundle.model)), strict=False)
    assert not unexpected and all("embed" in name or name == "lm_head.weight" for name in missing)
    return model


def tensors(model: TranslationModel) -> dict[str, Tensor]:
    """The weights under MarianMT's names, the features of the residual stream sines first, then cosines."""
    width = model.table.embedding_dim
    order = torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])
    table = model.table.weight.detach()[:, order]
    found = dict.fromkeys(("model.shared.weight", "lm_head.weight"), table)
    found |= {f"model.{side}.embed_tokens.weight": table for side in ("encoder", "decoder")}
    found["final_logits_bias"] = model.bias.detach()[None]
    for side, layers in (("encoder", model.encoder), ("decoder", model.decoder)):
        for i, layer in enumerate(cast(Any, layers)):
            place = f"model.{side}.layers.{i}"
            parts = {"self_attn": layer.attention} | ({"encoder_attn": layer.cross} if side == "decoder" else {})
            for name, attention in parts.items():
                found |= _attention(f"{place}.{name}", attention, order)
            norms = [*(f"{name}_layer_norm" for name in parts), "final_layer_norm"]
            for name, norm in zip(norms, layer.norms):
                found |= {f"{place}.{name}.weight": norm.weight[order], f"{place}.{name}.bias": norm.bias[order]}
            first, second = layer.feed_forward.first, layer.feed_forward.second
            found |= {f"{place}.fc1.weight": first.weight[:, order], f"{place}.fc1.bias": first.bias}
            found |= {f"{place}.fc2.weight": second.weight[order], f"{place}.fc2.bias": second.bias[order]}
    return {name: tensor.detach() for name, tensor in found.items()}


def _attention(place: str, attention: Any, order: Tensor) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for ours, theirs in PROJECTIONS.items():
        projection = getattr(attention, ours)
        found |= {
            f"{place}.{theirs}.weight": projection.weight[:, order],
            f"{place}.{theirs}.bias": projection.bias,
        }
    return found | {
        f"{place}.out_proj.weight": attention.out.weight[order],
        f"{place}.out_proj.bias": attention.out.bias[order],
    }


def write_marian(bundle: Bundle, folder: Path) -> None:
    """Writes model and tokenizer into a folder, as `save_pretrained` does.  Raises ConfigError as `to_marian`."""
    special = bundle.tokenizer.special
    names = {f"{name}_token": _name(bundle, special[ours]) for name, ours in NAMES.items()}
    to_marian(bundle).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast(tokenizer_file=str(bundle.path / TOKENIZER), **names).save_pretrained(folder)


def _name(bundle: Bundle, number: int) -> str:
    return str(cast(Any, bundle.tokenizer)._tokenizer.id_to_token(number))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m triattn_core.models.marian_format", description=__doc__)
    parser.add_argument("checkpoint", help="name or folder of a translation model with multi-head attention")
    parser.add_argument("folder", type=Path, help="where the model is written")
    options = parser.parse_args()
    write_marian(load(options.checkpoint, "cpu"), options.folder)


if __name__ == "__main__":
    main()

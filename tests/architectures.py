"""`make architectures`: docs/models.md, what the recorder makes of every type of text model of transformers.

Each type is built small, with random weights, given a sentence in its default implementation, and recorded.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers

PAGE = Path(__file__).parents[1] / "docs" / "models.md"
ROWS = Path(__file__).parents[1] / "runs" / "architectures.jsonl"  # so far; a run goes on where the last one ended
TOKENS = 13
GROUP, SECONDS = 60, 60  # types in a process, and seconds of the processor for each of them
SLOWER = 5  # further seconds of the clock for a process, in units of SECONDS: the machine may be busy
MOST_BYTES = 12 << 30  # of address space
# What makes a model small, under the names that configs give it.
SIZES: dict[str, Any] = {
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input"), 100),
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "embed_dim", "embedding_size", "dim", "emb_dim"), 32),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers"), 4),
    **dict.fromkeys(("num_decoder_layers", "num_encoder_layers"), 4),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads", "encoder_attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "kv_channels", "attention_head_size", "d_head"), 8),
    **dict.fromkeys(("intermediate_size", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_inner"), 24),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "hidden_dim", "n_inner"), 24),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len"), 70),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "moe_topk", "top_k_experts"), 2),
    **dict.fromkeys(("n_group", "topk_group"), 1),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "global_head_dim"), 8),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads", "num_global_key_value_heads"), 2),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("mamba_n_heads", "mamba_num_heads", "n_mamba_heads"), 4),
    **dict.fromkeys(("mamba_d_head", "mamba_head_dim"), 16),
    **dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
    "attention_window": 6,
    "block_size": 8,
    "hidden_size_per_layer_input": 8,
}

# Of one type alone: what it needs beside these, or otherwise.
OWN_SIZES: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        ("axk1", "axk2", "deepseek_v2", "deepseek_v3", "deepseek_v32", "glm4_moe_lite", "glm_moe_dsa", "minicpm3",
         "longcat_flash", "mistral_large4_text", "youtu", "esmc", "dots3_note_text"),
        {"num_key_value_heads": 4},
    ),
    "glm5_next_text": {"num_key_value_heads": 4, "qk_rope_head_dim": 0},
    "mistral4": {"num_key_value_heads": 4, "head_dim": 16},
    **dict.fromkeys(
        ("cosmos3_edge_text", "hunyuan_vl_text", "qwen2_vl_text", "qwen2_5_vl_text", "glm4v_text", "glm_image_text",
         "glm_ocr_text"),
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}},
    ),
    "glm4v_moe_text": {
        "rope_parameters": {
            "rope_type": "default", "rope_theta": 1e4, "mrope_section": [1, 1, 0], "partial_rotary_factor": 0.5
        }
    },
    **dict.fromkeys(("codegen", "gptj"), {"rotary_dim": 4}),
    "jamba": {"attn_layer_period": 4, "attn_layer_offset": 2},
    "bamba": {"attn_layer_indices": [2]},
    "granitemoehybrid": {"layer_types": ["mamba", "mamba", "attention", "mamba"]},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "lfm2_moe": {"layer_types": ["conv", "conv", "full_attention", "conv"]},
    "layoutlmv3": {"coordinate_size": 4, "shape_size": 8, "visual_embed": False},
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "reformer": {"axial_pos_embds": False, "is_decoder": False},
    "dots1": {"layer_types": ["full_attention"] * 4, "n_shared_experts": 1},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "falcon_h1": {"mamba_d_ssm": 64},
    **dict.fromkeys(("zamba", "zamba2"), {"layers_block_type": ["linear_attention", "hybrid"] * 2}),
    "nemotron_h": {"n_groups": 2},
    "kimi_linear": {
        "layer_types": [*["linear_attention"] * 3, "full_attention"], "num_key_value_heads": 4,
        "linear_head_dim": 8, "linear_num_heads": 4, "num_experts_per_token": 2, "num_expert_group": 1,
    },
    "bailing_hybrid": {
        "layer_group_size": 4, "num_key_value_heads": 4, "num_expert_group": 1, "num_experts_per_token": 2
    },
    "perceiver": {"num_latents": 6, "d_latents": 32, "num_self_attends_per_block": 4},
    "zaya": {"num_experts_per_tok": 1}, "mamba2": {"num_heads": 4, "head_dim": 16, "n_groups": 2},
    "csm": {"codec_config": None}, "blt": {"encoder_hash_byte_group_vocab": 50, "hidden_size_global": 32},
    "chameleon": {"vocabulary_map": {"<image>": 99}},
    "cohere_compass_text": {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e4}}},
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8}},
    "fastspeech2_conformer": {"speaking_speed": 1e-3},
    "funnel": {"architectures": ["FunnelModel"], "block_sizes": [2, 2]},
    **dict.fromkeys(("gradium_phonon_tts", "pocket_tts"), {"condition_dim": 32}),
    "kyutai_speech_to_text": {"audio_pad_token_id": 1},
    "lilt": {"hidden_size": 48},
    "qwen4_exp_text": {
        "indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 8, "indexer_budget": 8,
        "indexer_compress_ratio": 4,
    },
    **dict.fromkeys(("bros", "xlstm"), {"hidden_size": 128, "embedding_dim": 128}),
    "neomme": {
        "rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5},
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        }
    },
}  # fmt: skip

# What a type, or one whose main input has this name, needs beside a sentence or in its place.
OTHER_INPUTS = {
    **dict.fromkeys(("input_values", "input_features", "gemma3n_audio", "speecht5", "moonshine_streaming"), "sound"),
    **dict.fromkeys(("granite_speech5_ctc", "granite_speech5_encoder"), "sound"),
    "nemotron3_5_transcribe_word_timestamp": "sound",
    **dict.fromkeys(("pixel_values", "idefics", "vilt"), "a picture"),
    "lxmert": "what a detector found in a picture (visual_feats, visual_pos)",
    "decision_transformer": "states and actions",
    "gemma3n_vision": "a picture, by the package timm",
    "layoutlmv2": "a picture, by the package detectron2",
    "blip_2_qformer": "what another encoder made",
    "tvp": "a film",
    "voxtral_realtime_text": "a class that the library does not have",
}


def small_config(model_type: str, **sizes: Any) -> Any:
    """The config of a type, with the sizes that it knows, and so have the configs inside it."""
    kind = transformers.CONFIG_MAPPING[model_type]
    return kind(**_known_sizes(kind(), {**SIZES, **OWN_SIZES.get(model_type, {}), **sizes}))


def _known_sizes(config: Any, sizes: dict[str, Any]) -> dict[str, Any]:
    """Those of the sizes that a config knows; of a config inside it, its settings with these sizes in their place."""
    known = config.to_dict()
    sized = {name: value for name, value in sizes.items() if name in known}
    for name in config.sub_configs:
        part = getattr(config, name, None)
        if isinstance(part, transformers.PreTrainedConfig) and name not in sizes:
            own = {key: value for key, value in part.to_dict().items() if not key.endswith("layer_types")}
            sized[name] = own | _known_sizes(part, sizes)
    return sized


def small_model(model_type: str, **sizes: Any) -> Any:
    """A small model of a type with random weights, in evaluation, in its default implementation."""
    torch.manual_seed(0)
    config = small_config(model_type, **sizes)
    kind = transformers.AutoModelForMaskedLM if model_type == "perceiver" else transformers.AutoModel
    if type(config) not in transformers.MODEL_MAPPING and type(config) in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
        kind = transformers.AutoModelForCausalLM
    model = kind.from_config(config)
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.2)
    return model.float().eval()


def sentence_of(model: Any, length: int = TOKENS) -> dict[str, torch.Tensor]:
    """What a small model reads: a sentence of random tokens, and for a decoder of an encoder a shorter one."""
    torch.manual_seed(1)
    inputs = {"inputs" if model.config.model_type == "perceiver" else "input_ids": torch.randint(5, 99, (1, length))}
    if getattr(model.config, "is_encoder_decoder", False):
        inputs["decoder_input_ids"] = torch.randint(5, 99, (1, length - 6))
    if model.config.model_type in ("bros", "udop"):  # a box for each token
        inputs["bbox"] = torch.rand(1, length, 4)
    if model.config.model_type == "kyutai_speech_to_text":  # a token of text and one of each codebook at a time
        inputs["input_ids"] = torch.randint(5, 99, (1, length, model.config.num_codebooks + 1))
    if model.config.model_type == "blt":
        inputs["use_cache"] = torch.tensor(False)  # a cache asks the config for a number that it lacks
    return inputs


def try_type(model_type: str) -> dict[str, Any]:
    """What became of one type: `recorded` with its error, `refused` or `not built` with the reason."""
    from triattn_core.errors import TriattnError
    from triattn_core.recording.tape import record

    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    row: dict[str, Any] = {"type": model_type}
    reads = model_type
    try:
        model = small_model(model_type)
        reads = model_type if model_type in OTHER_INPUTS else model.main_input_name
        inputs = sentence_of(model)
        with torch.no_grad():
            plain = model(**inputs)[0]
    except Exception as error:  # each type fails in its own way
        reason = OTHER_INPUTS.get(reads) or f"{type(error).__name__}: {error}".splitlines()[0][:120]
        return row | {"result": "reads" if reads in OTHER_INPUTS else "not built", "reason": reason}
    try:
        with torch.no_grad(), record(model) as tape:
            recorded = model(**inputs)[0]
        trace = tape.trace()
    except TriattnError as error:
        return row | {"result": "refused", "reason": str(error)}
    except Exception as error:
        return row | {"result": "failed", "reason": f"{type(error).__name__}: {error}".splitlines()[0][:120]}
    sites = list(trace.sites.items())
    return row | {
        "result": "recorded",
        "maps": len(sites),
        "error": tape.error,
        "same": _equal(plain, recorded),
        "implementation": sorted({array.attrs["kind"] for _, array in sites}),
        "layers": sorted({site.layer for site, _ in sites if site.layer is not None}),
        "roles": sorted({tape.role(attention) for attention in tape.attentions}),
        "shapes": sorted({" × ".join(map(str, array.shape[1:])) for _, array in sites}),
        "notes": str(trace.meta["notes"]).split("\n")[1:],
    }


def _stop(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} seconds of the processor")


def _equal(plain: Any, recorded: Any) -> bool:
    """Equal to the bit; what is no number in both is equal."""
    if not isinstance(plain, torch.Tensor):
        return True
    return bool(torch.equal(plain.nan_to_num(), recorded.nan_to_num()))


def text_types() -> list[str]:
    """The types of the library that have a model without a head or for language, and a vocabulary."""
    names = []
    for name, kind in transformers.CONFIG_MAPPING.items():
        if kind in transformers.MODEL_MAPPING or kind in transformers.MODEL_FOR_CAUSAL_LM_MAPPING:
            try:
                if {"vocab_size", "src_vocab_size", "num_hash_buckets"} & kind().to_dict().keys():
                    names.append(name)
            except Exception:
                continue
    return names


def page(rows: list[dict[str, Any]]) -> str:
    """The page: a sentence of counts and a table."""
    built = [row for row in rows if row["result"] not in ("reads", "not built")]
    done = [row for row in built if row["result"] == "recorded"]
    proved = [row for row in done if row["error"] < 1e-5]
    refused = [row for row in built if row["result"] == "refused"]
    lines = [
        "# Models",
        "",
        f"What `triattn_core.record` makes of the text models of transformers {transformers.__version__}. Each type is"
        " built small with random weights and reads 13 tokens, in its default implementation. Written by `make"
        " architectures`.",
        "",
        f"Of {len(rows)} types {len(built)} run on a sentence at these sizes; {len(done)} are recorded, {len(proved)}"
        " of them proved: weights times values are what the model computed, within a relative error of 1e-5;"
        f" {len(refused)} are refused with the reason. An error of 0 is a product repeated to the bit. The last column"
        " has what a trace says beside its numbers. A model whose output differs draws noise. More in"
        " [Recording](record.md).",
        "",
        "| type | maps | layers | what attends | query × key | kind | error | same output | notes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in sorted(built, key=lambda row: row["type"]):
        if row["result"] == "recorded":
            layers = ", ".join(map(str, row["layers"])) or "–"
            cells = [row["maps"], layers, ", ".join(row["roles"]), "; ".join(row["shapes"])]
            cells += [", ".join(row["implementation"]), f"{row['error']:.0e}", "yes" if row["same"] else "no"]
            cells += [" ".join(row["notes"])]
        else:
            cells = ["–"] * 7 + [f"{row['result']}: {row['reason']}"]
        lines.append(f"| {row['type']} | " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    lines += [*_others(rows, "reads", "need something else than a sentence"), *_others(rows, "not built", "do not run")]
    return "\n".join(lines) + "\n"


def _others(rows: list[dict[str, Any]], result: str, words: str) -> list[str]:
    """The lines of the types with this result, by reason."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["type"]):
        if row["result"] == result:
            reasons[row["reason"]].append(row["type"])
    count = sum(map(len, reasons.values()))
    items = [f"- {reason}: {', '.join(types)}" for reason, types in sorted(reasons.items())]
    return ["", f"{count} of the types {words}:", "", *items] if items else []


def run_group(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yields the rows of some types, tried in a process of its own, whose memory and time are bounded, as they come.

    A type that ends the process is reported as such, and the rest of its group is tried in another one.
    """
    left = list(names)
    while left:
        command = [sys.executable, "-m", "tests.architectures", "--types", *left]
        seconds = SECONDS * (SLOWER + len(left))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            limit = threading.Timer(seconds, process.kill)
            limit.start()
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
                    left.pop(0)
            limit.cancel()
        if left:
            yield {"type": left.pop(0), "result": "not built", "reason": f"the process ended with {process.wait()}"}


def main() -> None:
    """Try every type that is not in the file of rows yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--types", nargs="*", help="only these, in this process, as JSON lines on the screen")
    parser.add_argument(
        "--rows", type=Path, default=ROWS, help="where rows are kept; a type that is there is not tried"
    )
    parser.add_argument("--again", action="store_true", help="try all types again")
    options = parser.parse_args()
    if options.types:
        signal.signal(signal.SIGPROF, _stop)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        for name in options.types:
            print(json.dumps(try_type(name), ensure_ascii=False), flush=True)
        return
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    known = [] if options.again or not options.rows.exists() else options.rows.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in known]
    done = {row["type"] for row in rows}
    names = [name for name in text_types() if name not in done]
    with options.rows.open("w" if options.again else "a", encoding="utf-8") as file:
        for start in range(0, len(names), GROUP):
            for row in run_group(names[start : start + GROUP]):
                rows.append(row)
                print(json.dumps(row, ensure_ascii=False), flush=True)
                print(json.dumps(row, ensure_ascii=False), file=file, flush=True)
    PAGE.write_text(page(rows), "utf-8")


if __name__ == "__main__":
    main()

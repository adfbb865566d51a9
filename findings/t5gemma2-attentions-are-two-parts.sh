#!/bin/sh
# transformers 5.23.0: a decoder layer of T5Gemma 2 attends once, by one softmax over the decoder's tokens and the source
# together. What it returns as decoder_attentions and cross_attentions are the two parts of that map, not two maps: the
# rows of neither sum to 1, those of both together do. T5's, BART's and T5Gemma's (the first) are two softmaxes, each of
# sum one.
# Seen: rows of decoder_attentions sum to 0.08 to 0.42, of cross_attentions to the rest; encoder and T5Gemma: all to 1.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" torch==2.13.0 transformers==5.23.0
PYTHONPATH="$folder" python3 - 2>/dev/null <<'PROGRAM'
import torch
from transformers import T5Gemma2Config, T5Gemma2ForConditionalGeneration, T5GemmaConfig, T5GemmaForConditionalGeneration

torch.manual_seed(0)
sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 24, "num_hidden_layers": 2, "head_dim": 8}
text = sizes | {"num_attention_heads": 4, "num_key_value_heads": 2, "layer_types": ["full_attention"] * 2}
vision = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
picture = {"vision_config": vision | {"image_size": 16, "patch_size": 8}, "mm_tokens_per_image": 4}
marks = {"eoi_token_index": 48, "image_token_index": 47}
second = T5Gemma2Config(encoder={"text_config": text} | picture | marks, decoder=text, **marks)
first = T5GemmaConfig(encoder=text, decoder=text | {"cross_attention_hidden_size": 32}, vocab_size=50)


def rows(build, config):
    config._attn_implementation = "eager"
    inputs = {"input_ids": torch.arange(5, 13)[None], "decoder_input_ids": torch.arange(5, 9)[None]}
    with torch.no_grad():
        output = build(config).eval()(**inputs, output_attentions=True)
    names = ("encoder_attentions", "decoder_attentions", "cross_attentions")
    return [torch.stack([layer.sum(-1) for layer in output[name]]) for name in names]


encoder, decoder, cross = rows(T5Gemma2ForConditionalGeneration, second)
print(f"T5Gemma 2: decoder {decoder.min():.2f} to {decoder.max():.2f}, cross {cross.min():.2f} to {cross.max():.2f}")
assert torch.allclose(encoder, torch.ones(1)) and torch.allclose(decoder + cross, torch.ones(1))
assert decoder.max() < 0.6 and cross.max() < 0.95
before = rows(T5GemmaForConditionalGeneration, first)
print("T5Gemma:", *(f"{sums.min():.2f} to {sums.max():.2f}" for sums in before))
assert all(torch.allclose(sums, torch.ones(1)) for sums in before)
PROGRAM

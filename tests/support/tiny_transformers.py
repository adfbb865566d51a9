"""Small random models of Hugging Face with tokenizers of their own, saved as folders: made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = ["Which browsers can play movies?", "Which browser can download a movie?", "unhappy cats sat on mats"]
PIECES = (  # as a WordPieceTrainer made them of SENTENCES: it makes others in each process
    "[PAD] [UNK] [CLS] [SEP] [MASK] ? a b c d e h i l m n o p r s t u v w y ##a ##t ##s ##r ##o ##w ##e ##n ##l ##d "
    "##y ##h ##i ##c ##v ##p ca ##ow br mo wh ##at ##se ##ie ##ic ##vie can ##owse browse movie whic browser which "
    "dow mat on pl sat un ##ad ##ay ##ap ##ts ##oad ##nl"
).split()
SIZES = {"num_hidden_layers": 3, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 24}
FAMILIES = ("bert", "roberta", "electra", "deberta", "gpt2")


def word_pieces() -> transformers.PreTrainedTokenizerFast:
    """As BERT has it: [CLS] a [SEP] b [SEP], pieces with ##."""
    vocabulary, special = {piece: i for i, piece in enumerate(PIECES)}, PIECES[:5]
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(special)
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ids)
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def byte_pairs(roberta: bool) -> transformers.PreTrainedTokenizerFast:
    """As GPT-2 or RoBERTa have it: the space before a word is part of its first piece."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<mask>"] if roberta else ["<|endoftext|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    if not roberta:
        tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
        return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "cls_token": "<s>", "sep_token": "</s>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)


def make(family: str, folder: Path, head: bool = True, masked: bool = False) -> Path:
    """A folder with a model of FAMILIES; head: with a classifier of three labels, GPT-2 as a language model; masked:
    with a head that guesses masked words."""
    torch.manual_seed(3)
    tokenizer = byte_pairs(family == "roberta") if family in ("roberta", "gpt2") else word_pieces()
    size = {"vocab_size": len(tokenizer), "max_position_embeddings": 70}
    labels = {
        "id2label": {0: "different", 1: "same", 2: "unsure"},
        "label2id": {"different": 0, "same": 1, "unsure": 2},
    }
    if family == "gpt2":
        config = transformers.GPT2Config(n_layer=3, n_head=4, n_embd=32, n_positions=70, vocab_size=len(tokenizer))
        model = (transformers.GPT2LMHeadModel if head else transformers.GPT2Model)(config)
    else:
        name = {"bert": "Bert", "roberta": "Roberta", "electra": "Electra", "deberta": "DebertaV2"}[family]
        config = getattr(transformers, f"{name}Config")(**SIZES, **size, **labels)
        kind = f"{name}ForSequenceClassification" if head else f"{name}Model"
        kind = f"{name}ForMaskedLM" if masked else kind
        model = getattr(transformers, kind)(config)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.35)  # random maps that are not even
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_type(model_type: str, folder: Path, kind: str = "", **sizes: Any) -> Path:
    """A folder with a small model of any type of the library, as `tests.architectures` builds it, and a tokenizer.

    kind: the class, such as `AlbertForSequenceClassification`; else the one of the type without a head.
    """
    from tests.architectures import small_config, small_model

    tokenizer = word_pieces()
    torch.manual_seed(3)
    if kind:
        labels = {0: "different", 1: "same", 2: "unsure"}
        config = small_config(model_type, **sizes)
        if "SequenceClassification" in kind:
            config.num_labels, config.id2label = 3, labels
            config.label2id = {name: number for number, name in labels.items()}
        model = getattr(transformers, kind)(config)
        for weight in model.parameters():
            torch.nn.init.normal_(weight, std=0.3)
    else:
        model = small_model(model_type, **sizes)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder

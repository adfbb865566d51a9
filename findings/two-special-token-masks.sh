#!/bin/sh
# transformers 5.23.0: two masks of special tokens for one text. The one that a call returns marks what the template
# added; get_special_tokens_mask of the same ids marks a [SEP] that stands in the text too.
# Seen for "a [SEP] b": [1, 0, 0, 0, 1] and [1, 0, 1, 0, 1].
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" transformers==5.23.0 tokenizers==0.23.3
PYTHONPATH="$folder" python3 - <<'PROGRAM'
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4}, "[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
called = fast("a [SEP] b", return_special_tokens_mask=True)
asked = fast.get_special_tokens_mask(called["input_ids"], already_has_special_tokens=True)
print(called["input_ids"], called["special_tokens_mask"], asked)
assert called["input_ids"] == [1, 3, 2, 4, 2]
assert called["special_tokens_mask"] == [1, 0, 0, 0, 1], called
assert asked == [1, 0, 1, 0, 1], asked
PROGRAM

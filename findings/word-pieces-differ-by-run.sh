#!/bin/sh
# tokenizers 0.23.3: a WordPieceTrainer makes another vocabulary each time, of the same three sentences in the same
# order, and so splits a word elsewhere. A BpeTrainer without a prefix of continuing pieces makes one and the same.
# Seen in 100 trainings: some 30 sets of pieces and 5 ways to split one word; BPE 1 vocabulary.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" tokenizers==0.23.3
PYTHONPATH="$folder" python3 - <<'PROGRAM'
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

sentences = ["Which browsers can play movies?", "Which browser can download a movie?", "unhappy cats sat on mats"]


def trained(model, trainer):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


pieces, pairs, splits = set(), set(), set()
for _ in range(100):
    tokenizer = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=70, special_tokens=["[UNK]"], show_progress=False),
    )
    pieces.add(frozenset(tokenizer.get_vocab()))
    splits.add(tuple(tokenizer.encode("download").tokens))
    tokenizer = trained(models.BPE(), trainers.BpeTrainer(vocab_size=70, show_progress=False))
    pairs.add(frozenset(tokenizer.get_vocab().items()))
print(len(pieces), "sets of word pieces,", len(splits), "ways to split download;", len(pairs), "vocabulary of BPE")
assert len(pieces) > 1 and len(splits) > 1 and len(pairs) == 1
PROGRAM

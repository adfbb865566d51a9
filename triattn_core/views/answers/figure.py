"""What goes in and what a model says, for tasks that choose among texts: a dialogue as a chat, a passage as text, and
their candidates or options as a list to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xarray as xr

from triattn_core.views.lib.canvas import Canvas, script, style
from triattn_core.views.lib.palette import theme_payload
from triattn_core.views.lib.tokens import text_names

SCRIPT = "answers/answers.js"
STYLE = ("answers/answers.css", "answers/texts.css", "answers/options.css")
CHAT = "share of the attention, per turn"
PASSAGE = "shade: share of the attention, at most {most} a sentence"


@dataclass(frozen=True)
class ChoiceExample:
    """An example whose answer is one of several texts.

    texts: what is read, in its order and by the names of a trace; the last one asks.  options: what is chosen from, and
    option its name in a trace.  gold: index of the right one, None where nobody has said.  speakers: of the turns.
    read: of texts that the model reads in part how many characters, to the last; 0 of those that it does not read.
    begins: of these the first character that it reads.
    chat: the texts are turns; else the first one is of sentences.  heads: over texts and over options.  words: for an
    option, and for the right one.
    """

    texts: Mapping[str, str]
    options: Sequence[str]
    option: str
    chat: bool
    heads: tuple[str, str]
    words: tuple[str, str]
    gold: int | None = None
    speakers: Sequence[str] = ()
    read: Mapping[str, int] | None = None
    begins: Mapping[str, int] | None = None


def figure(
    example: ChoiceExample,
    probabilities: Mapping[str, Sequence[float]],
    selected: int,
    pinned: int | None = None,
    pins: bool = False,
    mass: xr.DataArray | None = None,
    mechanisms: Sequence[str] = (),
    roles: tuple[str, str] = ("query", "key"),
    ranks: str = "",
) -> Canvas:
    """Texts on the left, options on the right; a click on one sends `option`, on its pin `other`.

    probabilities: of each option, by the model's title; a dialogue's candidates are ranked by the last.
    mass: [context], what part of the attention lies on each turn or sentence (`text_units.turn_shares`).
    roles: of the text that asks and of the chosen option.  mechanisms: of the models, for their colours.
    ranks: the text beside the head of the options, where there is one model.
    """
    rows, chat = _option_rows(example, probabilities), example.chat
    runs, who = _runs(mass), f"{list(probabilities)[-1]}: " if len(probabilities) > 1 else ""
    most = max((run["share"] for run in runs.get(next(iter(example.texts)), [])), default=0.0)
    shares = (CHAT if chat else PASSAGE).format(most=f"{100 * most:.2g} %")
    payload: dict[str, Any] = {
        "chat": chat,
        "words": {
            **dict(zip(("texts", "options"), example.heads)),
            "right": example.words[1],
            "shares": who + shares if runs else "",
        },
        "rest": _other_shares(example, runs) if runs else "",
        "texts": _texts(example, runs),
        "rows": rows,
        "models": [{"title": title, "mechanism": kind} for title, kind in zip(probabilities, mechanisms)],
        "chosen": selected,
        "pinned": pinned,
        "pins": pins,
        "roles": list(roles),
        "told": ranks,
        "themes": theme_payload(),
        "alt": _alt(rows, selected),
    }
    return Canvas(payload, script(SCRIPT), style(*STYLE), example.heads[0], payload["alt"], height=320)


def _option_rows(example: ChoiceExample, probabilities: Mapping[str, Sequence[float]]) -> list[dict]:
    """The options as a list shows them; of a dialogue the likeliest under the last model first."""
    last = list(probabilities.values())[-1]
    indices = range(len(example.options))
    order = sorted(indices, key=lambda i: -last[i]) if example.chat else indices
    return [
        {
            "at": i,
            "mark": str(i + 1) if example.chat else chr(65 + i),
            "rank": rank,
            "text": example.options[i],
            "shares": [float(shares[i]) for shares in probabilities.values()],
            "right": i == example.gold,
        }
        for rank, i in enumerate(order, start=1)
    ]


def _texts(example: ChoiceExample, runs: Mapping[str, list[dict]]) -> list[dict]:
    called, read = text_names(example.texts), example.read or {}
    speakers = dict(zip(example.texts, example.speakers))
    return [
        {
            "name": name,
            **called[name],
            "who": speakers.get(name, ""),
            "text": text,
            "begins": (example.begins or {}).get(name, 0),
            "read": read.get(name, len(text)),
            "runs": runs.get(name, []),
        }
        for name, text in example.texts.items()
    ]


def _runs(mass: xr.DataArray | None) -> dict[str, list[dict]]:
    """The shares by text, each with its span."""
    by_text: dict[str, list[dict]] = {}
    if mass is not None:
        columns = (mass[f"context_{name}"].values.tolist() for name in ("label", "text", "start", "end"))
        counts = mass["context_tokens"].values.tolist() if "context_tokens" in mass.coords else [0] * mass.size
        for name, text, start, end, share, count in zip(*columns, mass.values.tolist(), counts):
            run = {"name": name, "start": start, "end": end, "share": share, "tokens": count}
            by_text.setdefault(text, []).append(run)
    return by_text


def _other_shares(example: ChoiceExample, runs: Mapping[str, list[dict]]) -> str:
    """What is not beside a text: the share of the chosen option and of the special tokens, where these are context,
    and of turns their share over an even one."""
    places = ((example.option, f"the {example.words[0]} itself holds"), ("", "[CLS] and [SEP]"))
    parts = [f"{words} {100 * _share(runs[name]):.2g} %" for name, words in places if name in runs]
    text = ", ".join(parts)
    sentences = [f"{text[:1].upper()}{text[1:]}."] if text else []
    return " ".join([*sentences, *_against_even(example, runs)])


def _share(runs: Sequence[dict]) -> float:
    return sum(run["share"] for run in runs)


def _against_even(example: ChoiceExample, runs: Mapping[str, list[dict]]) -> list[str]:
    """Of a dialogue a sentence: the share of each turn over what it would hold if every token held the same."""
    tokens = {name: sum(run.get("tokens", 0) for run in text_runs) for name, text_runs in runs.items()}
    turns = [name for name in example.texts if tokens.get(name)] if example.chat else []
    if len(turns) < 2:
        return []
    called, total = text_names(example.texts), sum(tokens.values())
    ratios = [f"{called[name]['short']} ×{_share(runs[name]) * total / tokens[name]:.2g}" for name in turns]
    return [f"Share over an even share by tokens: {', '.join(ratios)}."]


def _alt(rows: Sequence[dict], option: int) -> str:
    best = max(rows, key=lambda row: row["shares"][-1])
    selected = next(row for row in rows if row["at"] == option)
    return (
        f"{len(rows)} options; the model gives {best['shares'][-1]:.3f} to: {best['text']}. Shown: {selected['text']}."
    )

"""What goes in and what a model says, for tasks that choose among texts: a dialogue as a chat, a passage as text, and
their candidates or options as a list to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import xarray as xr

from triattn_core.views.lib.canvas import Canvas
from triattn_core.views.lib.lists import Chips, Lists, Meters, Passage, Pins, Rows, Section, Words
from triattn_core.views.lib.marks import Mark
from triattn_core.views.lib.number_format import probability
from triattn_core.views.lib.tokens import text_names

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
    runs, several = _runs(mass), len(probabilities) > 1
    who = f"{list(probabilities)[-1]}: " if several else ""
    most = max((run["share"] for run in runs.get(next(iter(example.texts)), [])), default=0.0)
    shares = who + (CHAT if example.chat else PASSAGE).format(most=_per_cent(most))
    texts = Section(
        example.heads[0],
        _chat(example, runs, roles[0]) if example.chat else _passage(example, runs, roles[0]),
        shares if runs else "",
        foot=_other_shares(example, runs) if runs else "",
        room=3 if several else 1,
    )
    options = _options(example, probabilities, selected, pinned, pins, mechanisms, roles[1])
    rest = Section(example.heads[1], [options], ranks, room=5 if several else 1)
    return Lists(example.heads[0], _alt(example, list(probabilities.values())[-1], selected), [texts, rest]).canvas()


def _options(
    example: ChoiceExample,
    probabilities: Mapping[str, Sequence[float]],
    selected: int,
    pinned: int | None,
    pins: bool,
    mechanisms: Sequence[str],
    role: str,
) -> Rows:
    """The options; of a dialogue the likeliest under the last model first."""
    last, indices = list(probabilities.values())[-1], range(len(example.options))
    order = sorted(indices, key=lambda i: -last[i]) if example.chat else list(indices)
    marks = [str(i + 1) if example.chat else chr(65 + i) for i in order]
    said = [example.options[i] for i in order]
    several = len(probabilities) > 1
    columns: list[Mark] = [
        Words(marks, "mark", help=[f"rank {rank}" for rank in range(1, len(order) + 1)] if example.chat else ()),
        Words(said, "text", help=said),
        *([Chips([i == example.gold for i in order], example.words[1])] if example.gold is not None else []),
    ]
    for (title, shares), ink in zip(probabilities.items(), [*mechanisms, *[""] * len(probabilities)]):
        given = [float(shares[i]) for i in order]
        columns.append(Meters(given, list(map(probability, given)), ink=ink, title=title, size=34 if several else 110))
    words = {selected: "first", pinned: "second"}
    if pins:
        columns.append(Pins([words.get(i, "compare") for i in order], [i in words for i in order], "other"))
    looks = ["pinned" * (i == pinned) for i in order]
    return Rows(columns, "option", order, order.index(selected), ink=role, looks=looks, tall=300)


def _chat(example: ChoiceExample, runs: Mapping[str, list[dict]], role: str) -> list[Rows]:
    names = list(example.texts)
    given = {name: _share(runs[name]) if name in runs else None for name in names}
    return [_turns(example, names, given, role, max(one or 0.0 for one in given.values()), 300)]


def _passage(example: ChoiceExample, runs: Mapping[str, list[dict]], role: str) -> list[Rows | Passage]:
    """The first text with its sentences shaded, the others below it."""
    first, *asked = example.texts
    shades = [
        (run["start"], run["end"], run["share"], f"{run['name']}: {100 * run['share']:.3g} %")
        for run in runs.get(first, [])
    ]
    given = {name: _share(runs[name]) if name in runs else None for name in asked}
    most = max([*(share for _, _, share, _ in shades), *(one or 0.0 for one in given.values())], default=0.0)
    begins, read = (example.begins or {}).get(first, 0), (example.read or {}).get(first, len(example.texts[first]))
    passage = Passage(example.texts[first], shades, begins, read, 166)
    return [passage, _turns(example, asked, given, role, most)]


def _turns(
    example: ChoiceExample,
    names: Sequence[str],
    given: Mapping[str, float | None],
    role: str,
    most: float,
    tall: int = 0,
) -> Rows:
    """Texts as the turns of a chat; the last one asks.  given: the share of each."""
    called, speakers = text_names(names), dict(zip(example.texts, example.speakers))
    unread = {name for name in names if not (example.read or {}).get(name, 1)}
    says = [called[name]["long"] + ": not read" * (name in unread) for name in names]
    shares = [given[name] for name in names]
    numbers = ["" if share is None else _per_cent(share) for share in shares]
    columns: list[Mark] = [
        Words([called[name]["short"] for name in names], "mark", help=says),
        *([Words([speakers.get(name, "") for name in names], "who")] if speakers else []),
        Words([example.texts[name] for name in names], "bubble"),
        Meters(shares, numbers, most, "feature", size=62, track=False),  # the colour of a third axis
    ]
    looks = ["even " * (example.chat and i % 2) + "mute " * (name in unread) for i, name in enumerate(names)]
    looks[-1] += f"asks {role}"
    return Rows(columns, looks=[look.strip() for look in looks], tall=tall, ends=bool(tall))


def _per_cent(share: float) -> str:
    """Two digits: 0.31 %, 3.1 %, 31 %; all is 100 %."""
    return f"{float(f'{100 * share:.2g}'):g} %"


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
    parts = [f"{words} {_per_cent(_share(runs[name]))}" for name, words in places if name in runs]
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


def _alt(example: ChoiceExample, shares: Sequence[float], option: int) -> str:
    """shares: of the last model."""
    best = max(range(len(shares)), key=shares.__getitem__)
    said = f"the model gives {shares[best]:.3f} to: {example.options[best]}. Shown: {example.options[option]}."
    return f"{len(example.options)} options; {said}"

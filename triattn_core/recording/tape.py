"""`record`: a block in which a model's attentions are kept, and the tape that makes a trace of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any

import torch
import xarray as xr
from torch import nn

from triattn_core.cached import cached_property
from triattn_core.errors import InputError, TraceError
from triattn_core.recording.ablate import Place
from triattn_core.recording.arrays import describe_arrays, largest_error, site_array
from triattn_core.recording.attention import Attention
from triattn_core.recording.generation import explain_rows_of_one_text, join_steps, require_one_text
from triattn_core.recording.layer_lists import layers_without_attention
from triattn_core.recording.module_stack import ModuleStack, Running
from triattn_core.recording.names import has_encoder_and_decoder, model_type, site_of
from triattn_core.recording.refusal import (
    explain_absence,
    explain_compiled,
    explain_dropout,
    explain_fused,
    explain_gaps,
    explain_landmarks,
    explain_lost,
    explain_pieces,
    explain_run,
    explain_streams,
    explain_unread,
    explain_unseen,
)
from triattn_core.recording.selection import Select, check_select, selector
from triattn_core.recording.site_tokens import require_fit, tokens_by_axis, with_tokens, words_of
from triattn_core.recording.watch import Watch
from triattn_core.trace import AttentionTrace
from triattn_core.trace.array_rows import empty_unknown_rows
from triattn_core.trace.axes import WITHOUT_ATTENTION
from triattn_core.trace.site import Site
from triattn_core.trace.trace import MOST_BYTES


@contextmanager
def record(model: nn.Module, select: Select = None, *, example: int = 0, scores: bool = False) -> Iterator[Tape]:
    """Records every attention that `model` runs inside the block, in this thread.

    select: layers or modules to record, see `selection.selector`; the others cost nothing.  example: which row of a
    batch to show.  scores: also keep what goes into each softmax, where the model computes it.

    Whatever implementation the model uses stays in use, and its output does not change.  Fused attention is computed
    once more, head by head, in float32.  Raises what the model raises; in one line ConfigError where `select` names no
    module, InputError where the batch has no such example, TraceError where a compiler takes the code as a whole.

    >>> import torch
    >>> with record(torch.nn.MultiheadAttention(8, 2, batch_first=True)) as tape:
    ...     _ = tape.model(*[torch.randn(1, 5, 8)] * 3)
    >>> tape.trace(tokens=list("abcde")).sites["attention/weight"].dims
    ('head', 'query', 'key')
    """
    if torch.compiler.is_compiling() or torch._C._dynamo.eval_frame.get_eval_frame_callback():
        raise TraceError("record: the block is inside a function of torch.compile; open it around that function's call")
    check_select(model, select)
    if isinstance(example, bool) or not isinstance(example, int) or example < 0:
        raise InputError(f"example {example!r}: expected the number of a row of the batch, counted from 0")
    stack = ModuleStack(model)
    watch = Watch(stack, selector(select, stack.layers), example, scores)
    tape = Tape(model, watch.found, stack)
    with stack.following(watch, watch.selects, watch.reach.see_return, again=True, operations=watch.operations):
        try:
            yield tape
        except Exception as error:
            if reason := explain_compiled(model, error):
                raise TraceError(reason) from None
            raise


@dataclass(frozen=True)
class Tape:
    """The attentions that a block recorded, in the order in which they ran."""

    model: nn.Module = field(repr=False)
    attentions: list[Attention]
    stack: ModuleStack = field(repr=False)

    @property
    def error(self) -> float:
        """The largest error of weights times values against what the model made of them."""
        return max(self.stack.apart, *(attention.error for attention in self.attentions), 0.0)

    def trace(
        self,
        tokens: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
        *,
        query: Iterable[str] | None = None,
        key: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
        step: int | None = None,
        source: str = "",
    ) -> AttentionTrace:
        """Returns the trace of one step, the last where the model ran several times.

        tokens: of every axis with that many positions; query, key, context: tokens of that axis; or tokens by axis,
        {"query": […], "key": […]}, and under "tokens" those of all others.  Each site says in its
        attributes which `module` it is of, `rebuilt` to what error, and what its `mask` hides.

        Raises TraceError in one line where there was no attention, with the reason; where tokens are as many as no axis
        has; where the input was empty.
        """
        attentions = self._of_step(step)
        by_axis: dict[str, Iterable[str] | None] = {"query": query, "key": key, "context": context}
        if isinstance(tokens, Mapping):
            by_axis, tokens = tokens_by_axis(tokens, by_axis)
        words = None if tokens is None else list(words_of(tokens))
        given = {axis: list(words_of(own)) for axis, own in by_axis.items() if own is not None}
        arrays = self.arrays(len(words) if words else None, step)
        require_fit(arrays, words, given, self.model)
        runs = max(attention.running.step for attention in self.attentions) + 1
        run = explain_run(attentions[0].running.step, runs)
        return self._trace(attentions, arrays, words, given, source, [run] if run else [])

    def generation(
        self, tokens: Sequence[str] | None = None, generated: Sequence[str] | None = None, source: str = ""
    ) -> AttentionTrace:
        """Returns the trace of a block in which the model generated, a step a token: from where each was written.

        Queries are the generated tokens: a row is what the model looked at when it wrote one.  Keys are all tokens
        before it, or those of the encoder.  What ran once, as an encoder does, has its whole map.
        tokens: that the model read; generated: that it wrote.

        Raises TraceError where there was no attention; where a step did not write one token after those before it, as
        with beams, drafts, or a text read in parts.
        """
        arrays = self.generation_arrays()
        steps = max(attention.running.step for attention in self.attentions) + 1
        if generated is not None and len(generated) != steps:
            raise TraceError(f"generated: {len(generated)} tokens, but the model ran {steps} times: one is of each run")
        given = {"query": generated, "key": [*tokens, *generated][:-1] if tokens and generated else None}
        first, own = self._of_step(0), None if tokens is None else list(tokens)
        return self._trace(first, arrays, own, given, source, explain_rows_of_one_text(first))

    def arrays(self, length: int | None = None, step: int | None = None) -> dict[Site, xr.DataArray]:
        """Returns the weights of one step by site, with tokens of no axis; see `trace`.

        length: how many tokens there are, without the padding of a band to whole blocks.
        """
        sites = self.sites(step)
        _require_memory(sites.values())
        softmaxes = Counter(id(attention.softmax) for attention in sites.values() if attention.softmax is not None)
        return {
            site: self._array(attention, length).assign_attrs(parts=softmaxes.get(id(attention.softmax), 1))
            for site, attention in sites.items()
        }

    def generation_arrays(self) -> dict[Site, xr.DataArray]:
        """Returns the weights of all steps of a generation by site, with tokens of no axis; see `generation`."""
        later: dict[Place, list[Attention]] = defaultdict(list)
        for step in sorted({attention.running.step for attention in self.attentions}):
            for place, attention in places_of(self._of_step(step)).items():
                later[place].append(attention)
        steps = {site: later[place] for site, place in self.places(0).items()}
        own = [same for same in steps.values() if len(same) > 1 and self.role(same[0]) != "cross"]
        if own:
            require_one_text(own[0])
        return {
            site: join_steps(same, self.role(same[0]) != "cross") if len(same) > 1 else self._array(same[0])
            for site, same in steps.items()
        }

    def _array(self, attention: Attention, length: int | None = None) -> xr.DataArray:
        """The array of a site, without the padding of a band of its module; see `site_array`."""
        bands = [one for one in self.attentions if one.running is attention.running and one.layout.blocks]
        padded = bands[0].layout.queries(bands[0].weights) if bands else 0
        array = site_array(attention, length or (bands[0].layout.length if bands else None), padded)
        return array.assign_attrs(rebuilt=max(attention.error, self.stack.apart))

    def role(self, attention: Attention) -> str:
        """`cross`, `encoder` or `decoder` where the model has both, else `attention`."""
        return site_of("", attention.running, self._has_sides).role

    @cached_property
    def _has_sides(self) -> bool:
        return has_encoder_and_decoder(self.model)

    def _trace(
        self,
        attentions: Sequence[Attention],
        arrays: Mapping[Site, xr.DataArray],
        tokens: list[str] | None,
        given: Mapping[str, Iterable[str] | None],
        source: str,
        beside: Sequence[str] = (),
    ) -> AttentionTrace:
        arrays, notes = empty_unknown_rows(arrays)
        texts: dict[str, str] = {}
        sites = {}
        for site, array in arrays.items():
            sites[site], own_texts = with_tokens(array, tokens, given, self.model)
            texts |= own_texts
        meta = self.meta(attentions, arrays, source)
        return AttentionTrace(sites, texts, meta | {"notes": "\n".join([str(meta["notes"]), *notes, *beside])})

    def _of_step(self, step: int | None) -> list[Attention]:
        steps = {attention.running.step for attention in self.attentions}
        if not steps and not any(self.stack.selects(path) for path, _ in self.model.named_modules()):
            raise TraceError(f"{type(self.model).__name__}: nothing was selected")
        if not steps:
            raise TraceError(explain_absence(self.model, self._not_shown(), self.stack.batch > 0))
        if not any(attention.weights.numel() for attention in self.attentions):
            raise TraceError(f"{type(self.model).__name__}: the input is empty: there is no token to show")
        if reason := explain_landmarks(self.model, [attention.weights.shape for attention in self.attentions]):
            raise TraceError(reason)
        step = max(steps) if step is None else step
        if step not in steps:
            raise TraceError(f"step {step}: the model ran {max(steps) + 1} times, counted from 0")
        pieces = self._in_pieces(step)
        shown = [one for one in self.attentions if one.running.step == step and one.running not in pieces]
        if not shown:
            raise TraceError(f"{type(self.model).__name__}: {explain_pieces(self.model, pieces)}")
        return shown

    def _in_pieces(self, step: int | None = None) -> list[Running]:
        """The visits of modules whose softmax meets values block by block, in several products: no map is formed."""
        visits = [one.running for one in self.attentions if one.layout.in_pieces and step in (None, one.running.step)]
        return list(dict.fromkeys(visits))

    def _not_shown(self) -> list[str]:
        """Why some attention that the model may have is not recorded; each text may be empty."""
        stack = self.stack
        return [
            explain_unread(self.model, stack.unread),
            explain_lost(self.model, stack.lost.values()),
            explain_unseen(self.model, stack.unseen),
        ]

    def sites(self, step: int | None = None) -> dict[Site, Attention]:
        """Returns the attentions of one step, the last by default, by `layer.N[/visit.V]/role/weight`, after the
        module's path where that names two modules or no layer.

        Raises TraceError where there was no attention.
        """
        attentions = _joined_first(self._of_step(step))
        short = [self._named("", attention) for attention in attentions]
        counts = Counter(short)
        modules: dict[Site, set[str]] = {}
        for site, attention in zip(short, attentions):
            modules.setdefault(_of_any_run(site), set()).add(attention.running.path)
        sites: dict[Site, Attention] = {}
        for site, attention in zip(short, attentions):
            path = attention.running.path
            unclear = len(modules[_of_any_run(site)]) > 1
            unclear |= attention.running.layer is None and max(len(counts), counts[site]) > 1
            if path and unclear:
                site = self._named(path, attention)
            again = (site / str(number) for number in count(2))
            sites[next(other for other in chain([site], again) if other not in sites)] = attention
        return sites

    def _named(self, module: str, attention: Attention) -> Site:
        """The site of an attention; a difference of maps is no weight, nor is a map that has negative numbers."""
        site = site_of(module, attention.running, self._has_sides)
        return site.with_quantity("contribution") if attention.signed else site

    def places(self, step: int | None = None) -> dict[Site, Place]:
        """Returns where each site of a step ran: module, visit, and number among the attentions of the visit."""
        places = {id(attention): place for place, attention in places_of(self._of_step(step)).items()}
        return {site: places[id(attention)] for site, attention in self.sites(step).items()}

    def meta(
        self, attentions: Sequence[Attention], arrays: Mapping[Site, xr.DataArray], source: str = ""
    ) -> dict[str, Any]:
        """Returns what a trace says of itself."""
        layers = {attention.running.layer for attention in attentions} - {None}
        beside = [explain_pieces(self.model, self._in_pieces()), *self._not_shown()]
        beside += [explain_fused(self.stack.fused_error, self.stack.apart), explain_dropout(self.stack.dropped)]
        beside.append(explain_streams(self.model, [(one.running.path, one.weights.shape) for one in attentions]))
        missing, count = self._layers_without_attention()
        beside.append(explain_gaps(missing, count))
        meta: dict[str, Any] = {
            "checkpoint": source or type(self.model).__name__,
            "model_type": model_type(self.model),
            "layers": len(layers) or len(attentions),
            "heads": max(array.sizes["head"] for array in arrays.values()),
            "rebuilt": largest_error(arrays.values()),
            "notes": "\n".join([*describe_arrays(arrays), *filter(None, beside)]),
        }
        if all(array.attrs["mask"] == "causal" for array in arrays.values()):
            meta["mask"] = "causal"
        if missing:
            meta[WITHOUT_ATTENTION] = ",".join(map(str, missing))
        return meta

    def _layers_without_attention(self) -> tuple[list[int], int]:
        """See `layers_without_attention`; what is seen to attend, but not shown, attends."""
        stack = self.stack
        attending = {attention.running.path for attention in self.attentions}
        attending |= {*stack.unseen, *stack.unread, *(path for path, _ in stack.lost.values())}
        return layers_without_attention(self.model, stack.layers, attending, stack.ran, stack.selects)


def _of_any_run(site: Site) -> Site:
    """The site without its visit and quantity: a module has one name in all of its runs."""
    return replace(site, visit=0, quantity="")


def _require_memory(attentions: Iterable[Attention]) -> None:
    """Raises TraceError where bands, which a long text is read in, would take more memory than a trace may have."""
    size = sum(4 * attention.layout.cells(attention.weights) for attention in attentions if attention.layout.blocks)
    if size > MOST_BYTES:
        raise TraceError(
            f"unfolded to queries × keys, the bands take {size / 2**30:.1f} GiB, of {MOST_BYTES >> 30} that a trace may"
            " have: `select` fewer layers; `tape.attentions` has them folded"
        )


def _joined_first(attentions: Sequence[Attention]) -> list[Attention]:
    """The attentions, where each joined map stands before its parts, which were seen before it."""
    ordered: list[Attention] = []
    parts: list[Attention] = []
    for attention in attentions:
        if attention.kind == "part":
            parts.append(attention)
        elif attention.kind == "difference" and attention.softmax is None:  # of what the last two made
            ordered.insert(max(0, len(ordered) - 2), attention)
        else:
            ordered += [attention, *parts]
            parts.clear()
    return ordered


def places_of(attentions: Sequence[Attention]) -> dict[Place, Attention]:
    """Returns the attentions by module, visit, and number among those of the visit; parts of a joined map, which met no
    values themselves, have numbers below zero."""
    counts: Counter[tuple[str, int]] = Counter()
    parts: Counter[tuple[str, int]] = Counter()
    places = {}
    for attention in attentions:
        module = (attention.running.path, attention.running.visit)
        if attention.kind == "part":
            parts[module] += 1
            places[(*module, -parts[module])] = attention
        else:
            places[(*module, counts[module])] = attention
            counts[module] += 1
    return places

"""Whether a TAN's attention matters: information, reliance, alignment and mass on special tokens over many rows.

See `batch_information` and `same_word_alignment` for the first and third.  *Reliance* is the metric minus the metric
with the weights of all layers and both directions replaced, on the same rows: by even weights; by weights
permuted along the keys; by the mean over queries; for cubes, by the product of marginals.  It includes fragility; the
worth of attention is measured with trained controls (`results.worth`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

import numpy as np
import torch
from torch import Tensor

from triattn_core.analysis.maps import anova, same_word_alignment
from triattn_core.analysis.maps.batch_information import context_information, query_information
from triattn_core.analysis.significance import mcnemar
from triattn_core.attention.fixed_weights import FIXED, replacement
from triattn_core.attention.tap import Record, recording
from triattn_core.attention.weight_override import replacing
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.configs.tan import TanCheckpoint
from triattn_core.errors import InputError
from triattn_core.inference.batch import collate
from triattn_core.inference.predict import batch_by_length
from triattn_core.models import answers
from triattn_core.models.encoder import Encoded
from triattn_core.tasks import InputForm, form
from triattn_core.text.roles import Roles
from triattn_core.trace.site import Site

DRAWS = 5  # permutations of the keys
PERMUTED = "permuted_keys"
SHARES = {  # parts of `operand_shares`
    "one_number": "one of the two numbers alone",
    "made_and_one": "the number made with one of them",
    "two_numbers": "the two numbers, whatever they make",
    "three_way": "all three together",
}
WINDOW = 128  # examples that are tokenized at once
Sums = dict[Site, list[tuple[int, np.ndarray]]]  # by site: number of examples, and the sum over them, [heads]


@dataclass
class Tally:
    """Sums over the batches so far; `verdicts` by the name of the replacement, "" for none."""

    trained: Mapping[str, Sums] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    untrained: Mapping[str, Sums] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    alignments: dict[Site, list[same_word_alignment.Alignment]] = field(default_factory=lambda: defaultdict(list))
    verdicts: dict[str, list[tuple]] = field(default_factory=lambda: defaultdict(list))


def measure_attention(
    bundle: Bundle, examples: Sequence, progress: Callable[[int], object] = lambda n: None, size: int = 32
) -> dict:
    """The measures of a TAN over labelled examples: see `describe`.

    {"n", "metric", "score", "query_information": {"mean", "best_head", "untrained"}, "context_information" and, in per
    cent, "redirected": the same, of a cube, "reliance": {name: {"points", "p"}}, "alignment": of pairs, "special": per
    cent of the weight}.
    Raises InputError for another kind of model, or without examples.
    """
    if not isinstance(bundle.config, TanCheckpoint):
        raise InputError(f"{bundle.name}: attention measures exist for TAN checkpoints only")
    examples = [example for example in examples if example.label is not None]
    if not examples:
        raise InputError("no row has a label: nothing to measure")
    untrained = bundle.untrained().model
    tally, names = Tally(), _replacements(bundle)
    with torch.inference_mode():
        for start in range(0, len(examples), WINDOW):
            window = examples[start : start + WINDOW]
            _measure_window(bundle, untrained, window, names, tally, size)
            progress(len(window))
    return _report(bundle, tally, names)


def _replacements(bundle: Bundle) -> list[str]:
    """Names of the replacements of its weights, even first; the product of marginals is for cubes."""
    names = [name for name in FIXED if name != "product_of_marginals" or bundle.config.model.mechanism == "tri"]
    return [*names, *(f"{PERMUTED}.{draw}" for draw in range(DRAWS))]


def _measure_window(
    bundle: Bundle, untrained: torch.nn.Module, window: Sequence, names: Sequence[str], tally: Tally, size: int
) -> None:
    grouped = bundle.task.roles(window, bundle.tokenizer, bundle.config.limits)
    rows = [row for options in grouped for row in options]
    outputs = {name: torch.zeros(len(rows), bundle.num_outputs) for name in ("", *names)}
    quantities = ("weight", "relevance")[: 1 + (bundle.config.model.mechanism == "tri")]
    is_measured = lambda site: site.quantity in quantities  # noqa: E731
    for number, indices in enumerate(batch_by_length([row.length for row in rows], size)):
        roles = [rows[i] for i in indices]
        encoded = bundle.encoder(collate(roles, bundle.tokenizer).to(bundle.device))
        with recording(is_measured) as record:
            outputs[""][indices] = bundle.model(encoded).float().cpu()
        _add(tally.trained, record, encoded, roles)
        if form(bundle.task.NAME) is InputForm.PAIR:
            _add_alignments(tally, record, encoded, roles)
        with recording(is_measured) as record:
            untrained(encoded)
        _add(tally.untrained, record, encoded, roles)
        for name in names:
            control, _, draw = name.partition(".")
            with replacing(replacement(control, seed=1000 * int(draw or 0) + number)):
                outputs[name][indices] = bundle.model(encoded).float().cpu()
    counts = list(map(len, grouped))
    for name, rows_outputs in outputs.items():
        probabilities = answers.probabilities(rows_outputs, counts)
        tally.verdicts[name] += [bundle.task.verdict(example, chance) for example, chance in zip(window, probabilities)]


def _weights(record: Record, encoded: Encoded) -> Iterator[tuple[Site, Tensor, Tensor, bool]]:
    """Yield site, weights, the keep-mask of its queries, and whether the queries are those of sentence a."""
    for site, tapped in record.sites.items():
        if site.quantity != "weight":
            continue
        forward = site.sides == ("a", "b")
        yield site, tapped.tensor.float(), (encoded.query if forward else encoded.key).keep, forward


def _add(sums: Mapping[str, Sums], record: Record, encoded: Encoded, roles: Sequence[Roles]) -> None:
    for site, weights, keep, forward in _weights(record, encoded):
        real = keep.sum(1) >= 2
        measures = {"query_information": query_information(weights, keep)}
        if weights.ndim == 5:
            measures["context_information"] = context_information(weights, keep)
            measures["special"] = _special_mass(weights, keep, roles)
            measures["redirected"] = _measure_redirected(
                record.sites[site.with_quantity("relevance")].tensor, encoded, forward
            )
        for name, values in measures.items():
            sums[name][site].append((int(real.sum()), values[real].sum(0).cpu().numpy()))


def _measure_redirected(relevance: Tensor, encoded: Encoded, forward: bool) -> Tensor:
    """The share of the relevance that context redirects, of real tokens, [B, H]; see `anova.redirected_share`."""
    query, key = (encoded.query, encoded.key) if forward else (encoded.key, encoded.query)
    shares = []
    for row, cube in enumerate(relevance.float().cpu().numpy()):
        n, i, j = (states.keep[row].cpu().numpy() for states in (query, key, encoded.context))
        shares.append(anova.redirected_share(cube[:, n][:, :, i][..., j]))
    return torch.tensor(np.stack(shares), device=relevance.device)


def _special_mass(weights: Tensor, keep: Tensor, roles: Sequence[Roles]) -> Tensor:
    """The share of the weight on special tokens of the context, [B, H]."""
    special = torch.zeros(len(roles), weights.shape[-1], dtype=weights.dtype, device=weights.device)
    for row, example_roles in enumerate(roles):
        flags = [example_roles.context.special[start] for start, _ in example_roles.context.runs]
        special[row, : len(flags)] = torch.tensor(flags, dtype=weights.dtype)
    mass = (weights.sum(3) * special[:, None, None]).sum(-1) * keep[:, None]
    return mass.sum(2) / keep.sum(1).clamp(min=1)[:, None]


def _add_alignments(tally: Tally, record: Record, encoded: Encoded, roles: Sequence[Roles]) -> None:
    for site, weights, _, forward in _weights(record, encoded):
        keys = weights.sum(4) if weights.ndim == 5 else weights
        for row, example_roles in enumerate(roles):
            query, key = (
                (example_roles.query, example_roles.key) if forward else (example_roles.key, example_roles.query)
            )
            weights_of_row = keys[row, :, : len(query), : len(key)].cpu().numpy()
            tally.alignments[site].append(same_word_alignment.align_words(weights_of_row, query, key))


def _report(bundle: Bundle, tally: Tally, names: Sequence[str]) -> dict:
    metrics = {name: bundle.task.metrics(verdicts) for name, verdicts in tally.verdicts.items()}
    metric, score = next(iter(metrics[""].items()))
    right = {name: [verdict[0] for verdict in verdicts] for name, verdicts in tally.verdicts.items()}
    reliance = {}
    for control in dict.fromkeys(name.partition(".")[0] for name in names):
        draws = [name for name in names if name.partition(".")[0] == control]
        points = mean(score - metrics[name][metric] for name in draws)
        (difference,) = mcnemar([control, "own"], [right[draws[0]], right[""]])
        reliance[control] = {"points": round(points, 2), "p": difference.p}
    report = {"n": len(tally.verdicts[""]), "metric": metric, "score": score}
    for name in ("query_information", "context_information"):
        if name in tally.trained:
            untrained = _by_head(tally.untrained[name])
            report[name] = _summary(_by_head(tally.trained[name])) | {"untrained": _round(untrained.mean())}
    if "redirected" in tally.trained:
        untrained = 100 * _by_head(tally.untrained["redirected"])
        values = 100 * _by_head(tally.trained["redirected"])
        report["redirected"] = _summary(values) | {"untrained": _round(untrained.mean())}
    report["reliance"] = reliance
    all_shares = map(same_word_alignment.total, tally.alignments.values())
    shares = [shares_of_site for shares_of_site in all_shares if shares_of_site]
    if shares:
        report["alignment"] = {key: _round(mean(shares_of_site[key] for shares_of_site in shares)) for key in shares[0]}
    if "special" in tally.trained:
        values = _by_head(tally.trained["special"])
        report["special"] = _round(100 * values.mean()) if bundle.attends_special else 0.0
    return report


def _by_head(sums: Sums) -> np.ndarray:
    """[layers, heads]: means over examples, then over the two directions."""
    layers: dict[int | None, list[np.ndarray]] = defaultdict(list)
    for site, parts in sums.items():
        count = sum(n for n, _ in parts)
        layers[site.layer].append(np.asarray(sum(total for _, total in parts)) / max(1, count))
    return np.stack([np.mean(directions, 0) for directions in layers.values()])


def _summary(heads: np.ndarray) -> dict[str, float]:
    return {"mean": _round(heads.mean()), "best_head": _round(heads.max())}


def _round(value: float | np.floating) -> float:
    return float(f"{value:.4g}")


def describe(report: Mapping) -> list[str]:
    """The measures as lines of text."""
    lines = [f"attention over {report['n']:,} rows, {report['metric']} {report['score']}"] if "n" in report else []
    for name in ("query_information", "context_information"):
        if name in report:
            row = report[name]
            lines.append(
                f"{name.replace('_', ' ')}: {row['mean']:.3g} bits, best head {row['best_head']:.3g} "
                f"(untrained {row['untrained']:.3g})"
            )
    if "redirected" in report:
        row = report["redirected"]
        lines.append(
            f"redirected by context: {row['mean']:.3g} % of the relevance, best head {row['best_head']:.3g} "
            f"(untrained {row['untrained']:.3g})"
        )
    for name, row in report.get("shares", {}).items():
        lines.append(f"{SHARES[name]}: {row['mean']:.1f} % of the scores' variance (untrained {row['untrained']:.1f})")
    for name, row in report.get("reliance", {}).items():
        lines.append(f"reliance, {name.replace('_', ' ')}: {row['points']:+.2f} points ({_test(row)} p {row['p']:.3g})")
    for name, row in report.get("worth", {}).items():
        spread = "" if row["spread"] is None else f", SD over seeds {row['spread']:.2f}"
        seeds = f"{row['seeds']} seed{'s' * (row['seeds'] != 1)}"
        over = f"worth over {name.replace('_', ' ')}, from trained controls on dev, not on these rows"
        lines.append(f"{over}: {row['points']:+.2f} points ({seeds}{spread})")
    if "alignment" in report:
        row = report["alignment"]
        lines.append(
            f"same-word alignment: {row['mean']:.3g} %, best head {row['best_head']:.3g} % (chance {row['chance']:.3g})"
        )
    lines += _people_lines(report)
    if "special" in report:
        lines.append(f"mass on special tokens: {report['special']:.3g} %")
    return lines


def _test(row: Mapping) -> str:
    """The name of the test of a loss, after its interval if that was measured."""
    if "low" not in row:
        return "McNemar"
    return f"95 % {row['low']:+.2f} to {row['high']:+.2f}; approximate randomisation"


def _people_lines(report: Mapping) -> list[str]:
    """Lines on how the weights stand to what people have annotated: predicates and word alignments."""
    lines, aligned = [], report.get("word_alignment", {})
    for row in report.get("predicate", ()):
        names = {"inside": "inside", "outside": "outside", "even": "even inside", "even_outside": "even outside"}
        sides = ((name, row.get(side)) for side, name in names.items())
        shares = ", ".join(f"{name} {'–' if share is None else f'{share:.3f}'}" for name, share in sides)
        words = f"; of {row['words']:,} and {row['words_outside']:,} words" if "words" in row else ""
        lines.append(f"weight on the predicate, layer {row['layer'] + 1} head {row['head'] + 1}: {shares}{words}")
    for row in aligned.get("heads", ()):
        head = "mean of heads" if row["head"] is None else f"head {row['head'] + 1}"
        gain = row.get("less_diagonal")
        beside = "" if gain is None else "; less the diagonal {:+.2f} (95 % {:+.2f} to {:+.2f})".format(*gain)
        lines.append(f"alignment error rate, layer {row['layer'] + 1} {head}: {row['aer']:.2f} %{beside}")
    if aligned:
        unread = aligned.get("unread", 0)
        left_out = f"; left out: {unread:,} links of words that are not there, or not read" if unread else ""
        lines.append(f"word alignments of {aligned['n']:,} rows{left_out}")
    lines += [f"alignment error rate, {name}: {aer:.2f} %" for name, aer in aligned.get("baselines", {}).items()]
    return lines

"""What makes two jobs the same: what is asked, and what computes it; only then one goes on with the other's results."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from triattn_core.analysis.mining.sources import Source
from triattn_core.checkpoint.bundle import Bundle
from triattn_core.inference.device import VARIABLE, package_versions
from triattn_core.scale.code_version import code_version
from triattn_core.scale.worker import Work

NOTE = "job.json"  # the identity, in the folder of a job


def describe(
    work: Work, bundles: Sequence[Bundle], source: Source, max_rows: int | None, schema: pa.Schema
) -> dict[str, dict]:
    """`question`: measure, checkpoints by the digests of weights and config, and rows; `means`: versions, device, and
    the columns that are written (`schema` is that of `worker.result_schema`)."""
    question = {
        "measure": work.measure_name,
        "checkpoints": [[bundle.digest, _digest(bundle.config.model_dump_json())] for bundle in bundles],
        "sha256": source.sha256,
        "most": max_rows,
    }
    columns = [f"{field.name} {field.type}" for field in schema.field("records").type.value_type]
    device = work.device or os.environ.get(VARIABLE, "") or "auto"
    packages = {name: number for name, number in package_versions() if name != "streamlit"}
    means = {"triattn": code_version(), **packages, "device": device, "columns": columns}
    return {"question": question, "means": means}


def folder_name(identity: dict[str, dict]) -> str:
    """The name of the folder of a job: the same up to its hyphen for the same question."""
    return f"{_digest(identity['question'])}-{_digest(identity['means'])}"


def differences(other: dict, identity: dict[str, dict]) -> str:
    """How results of the same question were made otherwise; empty if the question is another one."""
    if other.get("question") != identity["question"]:
        return ""
    old, new = other["means"], identity["means"]
    changed = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
    parts = [f"{name} {old.get(name)} (now {new.get(name)})" for name in sorted(changed) if name != "columns"]
    return f"contains results made with {', '.join(parts + ['other columns'] * ('columns' in changed))}"


def earlier_results(named: Path, identity: dict[str, dict]) -> str:
    """Where an unfinished job asks the same of another version or device, in words; empty if nowhere.

    named: the folder of the job itself.
    """
    for note in sorted(named.parent.glob(f"{named.name.partition('-')[0]}-*/{NOTE}")):
        if reason := differences(json.loads(note.read_text()), identity):
            return f"{note.parent} {reason}; this job begins anew in {named}"
    return ""


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

"""Tables stored where a command says: in a Parquet file, or in a folder of parts with a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from triattn_core.analysis.mining import case_table, table_folder
from triattn_core.analysis.mining.case_table import TableInfo
from triattn_core.text.atomic_write import replacing

OF_CASES = ("command", "data", "sha256", "whole", "truncated", "versions")


def store_frame(out: Path, table: pd.DataFrame, errors: Sequence[str], provenance: Mapping[str, Any]) -> None:
    """Write a table with the column `row`; provenance: see `table_folder.make_manifest`, kept in the file too."""
    table.attrs = {"triattn": dict(provenance)}
    if not table_folder.is_folder(out):
        with replacing(out) as part:
            table.to_parquet(part)
        return
    whole = pa.Table.from_pandas(table, preserve_index=False)
    whole = whole.replace_schema_metadata((whole.schema.metadata or {}) | {"PANDAS_ATTRS": json.dumps(table.attrs)})
    manifest = table_folder.make_manifest(table["row"].nunique(), errors, provenance)
    table_folder.write_folder(out, [whole], lambda file, part: pq.write_table(pa.concat_tables(part), file), manifest)


def store_cases(out: Path, tables: Iterable[pa.Table], about: TableInfo) -> None:
    """Write a table of cases that comes in pieces, in the order of its file, none of them held longer than it
    takes to write a part."""
    if not table_folder.is_folder(out):
        with replacing(out) as part:
            case_table.write_parts(part, tables, about)
        return
    info = about.model_dump(mode="json")
    provenance = {name: info[name] for name in OF_CASES}
    provenance["checkpoints"] = {checkpoint.name: checkpoint.digest for checkpoint in about.checkpoints}
    manifest = table_folder.make_manifest(None, about.complaints, provenance) | {"aside": about.aside}
    table_folder.write_folder(out, tables, lambda file, part: case_table.write_parts(file, part, about), manifest)

"""Attention with context.  To add a mechanism: a file here, a line in the table."""

from __future__ import annotations

from triattn_core.attention.bi import BiAttention
from triattn_core.attention.bi_joint import JointAttention
from triattn_core.attention.cbi import CBiAttention
from triattn_core.attention.tri import TriAttention

MECHANISMS: dict[str, type[BiAttention] | type[TriAttention]] = {
    "bi": BiAttention,
    "bi_joint": JointAttention,
    "cbi": CBiAttention,
    "tri": TriAttention,
}

"""Tasks: each says which text is query, key and context.  To add one: a file here, a line in the table."""

from __future__ import annotations

from triattn_core.tasks import dialogue, pairs, reading

TASKS = {task.NAME: task for task in (pairs, dialogue, reading)}

"""Tasks: each says which text is query, key and context, or which texts are encoded each on its own.

To add one: a file here, a line in the table.
"""

from __future__ import annotations

from triattn_core.tasks import dialogue, inference, pairs, questions, reading, sentences

TASKS = {task.NAME: task for task in (pairs, dialogue, reading, sentences, inference, questions)}
CHOICES = {name: task for name, task in TASKS.items() if hasattr(task, "WORDS")}  # those that choose among texts

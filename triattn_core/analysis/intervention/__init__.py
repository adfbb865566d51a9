"""Interventions: edits of the context, ablations, leave-one-out and null replacements."""

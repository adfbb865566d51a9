"""The types of the settings by which checkpoints are listed, checked without reading the whole config."""

from __future__ import annotations


def wrong_setting(config: dict) -> str | None:
    """What is wrong with the type of a setting by which checkpoints are listed, or None."""
    for name in ("kind", "task", "language", "encoder", "digest", "encoder_digest"):
        if not isinstance(config.get(name), str | None):
            return f"{name} must be text"
    for name in ("model", "data", "training"):
        if not isinstance(config.get(name, {}), dict):
            return f"{name} must be an object"
    labels = config.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        return "labels must be a list of texts"
    for name in ("layers", "heads"):
        number = config.get("model", {}).get(name, 1)
        if type(number) is not int or number < 1:  # True is an int too
            return f"model must be an object, its layers and heads whole numbers from 1, got {name} {number!r:.40}"
    return None

#!/bin/sh
# altair 6.3.0: names given to views are kept in a concatenation of layers, but not where each layer stands in a
# concatenation of its own: there every view gets the name of the first, silently.
# Seen: map_0, map_1, map_2 side by side; map_0 three times once a bar chart stands beside each.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --target "$folder" altair==6.3.0 pandas==2.3.3
PYTHONPATH="$folder" python3 - <<'PROGRAM'
import altair as alt
import pandas as pd


def panel(number, beside):
    rows = pd.DataFrame({"x": [0, 1], "w": [number, 1]})
    base = alt.Chart(rows).encode(x="x:O", color="w:Q")
    layers = alt.layer(base.mark_rect().properties(name=f"map_{number}"), base.mark_rule())
    bars = alt.Chart(rows).mark_bar().encode(y="w:Q")
    return alt.vconcat(alt.hconcat(layers, bars), bars) if beside else layers


def names(part):
    if isinstance(part, dict):
        found = [part["name"]] if "mark" in part and "name" in part else []
        return found + [name for key, value in part.items() if key != "params" for name in names(value)]
    return [name for value in part for name in names(value)] if isinstance(part, list) else []


flat, nested = (names(alt.concat(*(panel(i, beside) for i in range(3))).to_dict()) for beside in (False, True))
print(flat, nested)
assert flat == ["map_0", "map_1", "map_2"], flat
assert nested == ["map_0", "map_0", "map_0"], nested
PROGRAM

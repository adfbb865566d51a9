"""Layers, modules and heads to record, as typed: `3`, `3:0,2`, `encoder.*`, `decoder.layers.1:5`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from triattn_core.errors import ConfigError, TraceError
from triattn_core.recording.selection import Select, selector
from triattn_core.trace import AttentionTrace


@dataclass(frozen=True)
class Selection:
    """modules: layers and patterns of module paths; None is all.  heads: of one of them, the numbers from 0."""

    modules: tuple[int | str, ...] | None = None
    heads: dict[int | str, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str] | None) -> Selection:
        """Returns what each text means: a layer or a module, and after a colon its heads, all counted from 0.

        >>> Selection.of(["3", "5:0,2"])
        Selection(modules=(3, 5), heads={5: (0, 2)})

        Raises ConfigError in one line.
        """
        if not texts:
            return cls()
        modules: list[int | str] = []
        heads: dict[int | str, tuple[int, ...]] = {}
        for text in texts:
            name, colon, numbers = text.partition(":")
            module = int(name) if name.isdecimal() else name
            parts = numbers.split(",")
            if not name or colon and not all(part.isdecimal() for part in parts):
                raise ConfigError(f"select {text!r}: expected a layer, 3, or with heads, 3:0,2, or a module, encoder.*")
            modules.append(module)
            if colon:
                heads[module] = tuple(map(int, parts))
        return cls(tuple(modules), heads)

    @property
    def select(self) -> Select:
        """For `record`."""
        return self.modules

    def keep(self, trace: AttentionTrace) -> AttentionTrace:
        """Returns the trace with the chosen heads alone, and a note where it has fewer.  Raises TraceError: no such
        head."""
        sites, notes = dict(trace.sites), []
        for module, numbers in self.heads.items():
            for site, array in trace.sites.items():
                path = str(array.attrs["module"])
                if not selector(module, {path: site.layer})(path):
                    continue
                if max(numbers) >= array.sizes["head"]:
                    raise TraceError(
                        f"{site} has {array.sizes['head']} heads, counted from 0: there is no {max(numbers)}"
                    )
                sites[site] = array.isel(head=list(numbers))
                where = path if site.layer is None else f"layer {site.layer}"
                notes.append(f"Of {where} only heads {', '.join(map(str, numbers))} (from 0) are kept, in this order.")
        old = [note for note in str(trace.meta.get("notes", "")).split("\n") if note]
        return replace(trace, sites=sites, meta={**trace.meta, "notes": "\n".join([*old, *dict.fromkeys(notes)])})

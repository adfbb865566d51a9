"""What an editor completes of `import triattn_core`: `python -m docs.tables.public_types > triattn_core/__init__.pyi`.

A test holds it against the views.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import triattn_core
from triattn_core.scenes.catalogue import SCENES
from triattn_core.trace.site import Site

ABOUT = '"""The public names, and the settings of each view of `draw`; made by `python -m docs.tables.public_types`."""'
DRAW = "what: Any, example: Any = None, models: Models | None = None"


def lines() -> Iterator[str]:
    """The stub."""
    yield ABOUT
    yield ""
    yield "from typing import Any, Literal, TypedDict, Unpack, overload"
    yield ""
    imports = [(f"triattn_core.{module}", name) for name, module in triattn_core._PUBLIC.items() if name != "draw"]
    own = [("triattn_core.sources.models", "Models"), ("triattn_core.trace.site", "Site")]
    for module, name in sorted([*imports, *own]):
        yield f"from {module} import {name} as {name}" if (module, name) in imports else f"from {module} import {name}"
    yield ""
    yield "__version__: str"
    for view, builder in SCENES.items():
        yield ""
        yield f"class _{_class(view)}(TypedDict, total=False):"
        for name, kind in get_type_hints(builder.settings, include_extras=True).items():
            if name in builder.settings.model_fields:
                yield f"    {name}: {_text(kind)}"
    for view in SCENES:
        yield ""
        yield "@overload"
        yield f'def draw(view: Literal["{view}"], {DRAW}, **settings: Unpack[_{_class(view)}]) -> RenderedView: ...'


def _class(view: str) -> str:
    return "".join(map(str.capitalize, view.split("_")))


def _text(kind: Any) -> str:
    """The annotation as it is written, without what validates it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return "Site | str" if arguments[0] is Site else _text(arguments[0])
    if origin is Union or origin is types.UnionType:
        return " | ".join(map(_text, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join('...' if part is ... else _text(part) for part in arguments)}]"
    return "None" if kind is type(None) else getattr(kind, "__name__", str(kind))


if __name__ == "__main__":
    print("\n".join(lines()))

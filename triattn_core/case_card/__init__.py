"""Case cards: what a page shows of an example, made and taken away without the page, and made again from a manifest.

    shown = draw("cube", ["quora-tri-additive"], example, head=4)
    shown               # shows itself in a notebook
    shown.save("card.zip")

To add a view: a module here with its settings and `draw`, a line in VIEWS.  `draw` returns parts of `Drawn`: `settings`
with nothing left open, `figures` by name (`charts.Chart.of` of an Altair chart, or a Canvas), `table` (of several
`drawn.stacked`), `trace` and `found`.  `case_card/cube.py` is the shortest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from triattn_core.case_card import attribute, coin, context, cube, heads, intervene, side_by_side, similarity
from triattn_core.case_card.drawn import Drawn, Settings
from triattn_core.case_card.explained import Models, cards
from triattn_core.case_card.figures import Printed
from triattn_core.errors import ConfigError, choices
from triattn_core.tasks import TASKS, check
from triattn_core.views.canvas import Canvas


@dataclass(frozen=True)
class View:
    """What is chosen there, how it is drawn, and how many checkpoints it shows at most."""

    settings: type[Settings]
    draw: Callable[..., dict]
    most: int = 1


VIEWS = {  # by the file of their page
    "cube": View(cube.Settings, cube.draw),
    "side_by_side": View(side_by_side.Settings, side_by_side.draw, side_by_side.view.MOST),
    "context": View(context.Settings, context.draw),
    "intervene": View(intervene.Settings, intervene.draw),
    "attribute": View(attribute.Settings, attribute.draw),
    "mtsa": View(heads.Heads, heads.draw_heads),
    "tensor": View(heads.Tensor, heads.draw_tensor),
    "coin": View(coin.Settings, coin.draw),
    "similarity": View(similarity.Settings, similarity.draw, similarity.view.MOST),
}


def draw(view: str, checkpoints: Sequence[str], example: Any, models: Models | None = None, **settings: Any) -> Drawn:
    """A view of VIEWS of an example under checkpoints (names or folders), all of one task.

    settings: of the view, see its module; what is left out is as the page opens.  models: who runs the checkpoints.
    Raises TriattnError in one line: no such view, checkpoint or setting, an example that does not fit.
    """
    if view not in VIEWS:
        raise ConfigError(f"no view {view!r}; {choices(view, VIEWS)}")
    what, names = VIEWS[view], [checkpoints] if isinstance(checkpoints, str) else list(checkpoints)
    chosen = told(what.settings, settings, view)
    if not 1 <= len(names) <= what.most:
        shows = "one checkpoint" if what.most == 1 else f"one to {what.most} checkpoints"
        raise ConfigError(f"{view} shows {shows}, got {len(names)}")
    found = cards(names)
    called = [card.name for card in found]
    if twice := next((name for name in called if called.count(name) > 1), None):
        raise ConfigError(f"two of these checkpoints are called {twice}: name each once, a folder by a name of its own")
    task = found[0].config["task"]
    if other := next((card for card in found if card.config["task"] != task), None):
        raise ConfigError(f"{found[0].name} is of the task {task}, {other.name} of {other.config['task']}: one task")
    check(TASKS[task], example, found[0].name)
    parts = what.draw(models or Models(), found, example, chosen)
    figures = {name: Printed.of(one) if isinstance(one, Canvas) else one for name, one in parts["figures"].items()}
    return Drawn(view, task, TASKS[task].row(example), **parts | {"figures": figures})


def told(kind: type[Settings], settings: Mapping[str, Any], where: str) -> Settings:
    """Settings that fit.  Raises ConfigError naming the first that does not."""
    try:
        return kind.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or "settings"
        if first["type"] == "extra_forbidden":
            raise ConfigError(f"{where}: no setting {name!r}; {choices(name, kind.model_fields)}") from None
        raise ConfigError(f"{where}: {name}: {first['msg']}") from None

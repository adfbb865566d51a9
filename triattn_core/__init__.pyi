"""The public names, and the settings of each view of `draw`; made by `python -m docs.tables.public_types`."""

from typing import Any, Literal, TypedDict, Unpack, overload

from triattn_core.case_card import RenderedView as RenderedView
from triattn_core.cube_widget import widget as widget
from triattn_core.importers.open_file import open_file as open_file
from triattn_core.inference.predictions import Prediction as Prediction
from triattn_core.library import attribute as attribute
from triattn_core.library import checkpoints as checkpoints
from triattn_core.library import evaluate as evaluate
from triattn_core.library import example as example
from triattn_core.library import explain as explain
from triattn_core.library import intervene as intervene
from triattn_core.library import load as load
from triattn_core.recording.replace import replace as replace
from triattn_core.recording.tape import record as record
from triattn_core.sources import open_source as open_source
from triattn_core.sources.models import Models
from triattn_core.trace import AttentionTrace as AttentionTrace
from triattn_core.trace import Choice as Choice
from triattn_core.trace.from_array import notes_of as notes_of
from triattn_core.trace.from_array import trace_of as trace_of
from triattn_core.trace.site import Site

__version__: str

class _Cube(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    hide: bool
    sinks: float | None
    site: Site | str
    layer: int | None
    head: int | None
    query: Literal['tokens', 'words', 'phrases', 'sentences']
    key: Literal['tokens', 'words', 'phrases', 'sentences']
    context: Literal['tokens', 'words', 'phrases', 'sentences'] | Literal['turns']
    option: int | None
    slices: tuple[int, ...]

class _SideBySide(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    hide: bool
    sinks: float | None
    compare: Literal['mechanisms', 'options', 'inputs']
    site: Site | str
    head: int | None
    query: Literal['tokens', 'words', 'phrases', 'sentences']
    key: Literal['tokens', 'words', 'phrases', 'sentences']
    difference: tuple[int, int] | None
    option: int | None
    other: int | None
    context: Literal['turns', 'sentences'] | None
    edited: dict[str, Any] | None
    seeds: tuple[tuple[str, ...], ...] | None

class _Context(TypedDict, total=False):
    cell: tuple[int, ...] | None
    direction: Literal['a_over_b', 'b_over_a']
    layer: int | None
    head: int | None
    by: Literal['number', 'context']
    option: int | None

class _Intervene(TypedDict, total=False):
    how: Literal['remove', 'mask', 'replace', 'reorder', 'swap']
    unit: Literal['tokens', 'sentences', 'turns'] | None
    units: tuple[str, ...] | None
    text: str
    order: Literal['chosen first', 'chosen last', 'reversed', 'shuffled']
    shuffle: int
    other: dict[str, Any] | None
    direction: Literal['a_over_b', 'b_over_a']
    layer: int
    head: int | None
    random: int
    null: str | None
    along: Literal['key', 'context']
    draws: int
    seed: int
    option: int | None

class _Attribute(TypedDict, total=False):
    steps: int
    fold: Literal['words', 'word pieces']
    ranks: Literal['all', 'query', 'key', 'context'] | None
    method: str | None
    draws: int
    seed: int
    option: int | None

class _Mtsa(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    tokens: Literal['tokens', 'words', 'phrases']
    layer: Site | str | None
    heads: tuple[int, ...] | None
    quantity: Literal['weight', 'relevance']
    features: bool

class _Tensor(TypedDict, total=False):
    cell: tuple[int, ...] | None
    layer: Site | str | None
    head: int
    quantity: Literal['weight', 'relevance']
    clusters: int

class _Coin(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    tokens: Literal['tokens', 'words', 'phrases']
    direction: Literal['a_over_b', 'b_over_a']
    off: str
    features: bool

class _Similarity(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    quantity: Literal['relevance', 'centred', 'weight', 'over passage']
    shared: bool
    part: int | None
    titles: tuple[str, ...] | None
    passage: Literal['words', 'phrases', 'sentences']
    question: Literal['words', 'phrases', 'sentences']

class _Map(TypedDict, total=False):
    cell: tuple[int, ...] | None
    phrases: tuple[str, ...]
    tokens: Literal['tokens', 'words', 'phrases']
    site: Site | str | None
    layer: int | None
    head: int | None
    quantity: Literal['weight', 'relevance']

class _Weights(TypedDict, total=False):
    becomes: str
    in_layers: tuple[int, ...]
    in_heads: tuple[int, ...]
    in_sides: tuple[Literal['encoder', 'decoder', 'cross'], ...]
    other: dict[str, Any] | None
    row: int
    looks: tuple[int, ...]
    random: int
    seed: int
    layer: int | None
    side: Literal['encoder', 'decoder', 'cross'] | None
    head: int | None
    direction: Literal['a_over_b', 'b_over_a']
    option: int | None

class _Heads(TypedDict, total=False):
    cell: tuple[int, ...] | None
    measure: Literal['entropy', 'query_information', 'context_information', 'distance', 'sink', 'special']

@overload
def draw(view: Literal["cube"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Cube]) -> RenderedView: ...

@overload
def draw(view: Literal["side_by_side"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_SideBySide]) -> RenderedView: ...

@overload
def draw(view: Literal["context"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Context]) -> RenderedView: ...

@overload
def draw(view: Literal["intervene"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Intervene]) -> RenderedView: ...

@overload
def draw(view: Literal["attribute"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Attribute]) -> RenderedView: ...

@overload
def draw(view: Literal["mtsa"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Mtsa]) -> RenderedView: ...

@overload
def draw(view: Literal["tensor"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Tensor]) -> RenderedView: ...

@overload
def draw(view: Literal["coin"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Coin]) -> RenderedView: ...

@overload
def draw(view: Literal["similarity"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Similarity]) -> RenderedView: ...

@overload
def draw(view: Literal["map"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Map]) -> RenderedView: ...

@overload
def draw(view: Literal["weights"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Weights]) -> RenderedView: ...

@overload
def draw(view: Literal["heads"], what: Any, example: Any = None, models: Models | None = None, **settings: Unpack[_Heads]) -> RenderedView: ...

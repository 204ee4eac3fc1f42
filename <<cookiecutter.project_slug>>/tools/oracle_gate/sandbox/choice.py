"""Which layers there are, strongest first (design, section 13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..core.errors import GateError
from .bubblewrap import Bubblewrap, find_bubblewrap
from .landlock import Landlock
from .layer import Layer
from .plain import Plain


def candidates(wanted: str) -> Iterator[Layer | GateError]:
    """The layers to try: all of them for `auto`, else the one named; an error for one that is not here."""
    if wanted in ("auto", "bubblewrap"):
        try:
            yield find_bubblewrap()
        except GateError as error:
            yield error
    if wanted in ("auto", "landlock"):
        yield Landlock()
    if wanted in ("auto", "plain"):
        yield Plain()


def moved(layer: Layer) -> Layer:
    """The layer with other paths inside, of the same length; those of the others differ for every pool."""
    return replace(layer, work="/repo") if isinstance(layer, Bubblewrap) else layer

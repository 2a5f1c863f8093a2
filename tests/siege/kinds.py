"""The kinds of rounds, and how often each is played."""

from collections.abc import Callable
from dataclasses import dataclass

import strikes
from rounds import Round


class Skip(Exception):
    """The machine lacks what a round needs."""


@dataclass(frozen=True)
class Kind:
    """One way to disturb runs."""

    name: str
    play: Callable[[Round], None]
    weight: int
    long: bool = False  # only in the long column, or by name


KINDS = {kind.name: kind for kind in (
    Kind("kill", strikes.kill, 40),
)}

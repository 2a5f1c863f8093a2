"""The kinds of rounds, and how often each is played."""

from collections.abc import Callable
from dataclasses import dataclass

import calls
import crowds
import damage
import database
import disks
import fleet
import strikes
from rounds import Round


@dataclass(frozen=True)
class Kind:
    """One way to disturb runs."""

    name: str
    play: Callable[[Round], None]
    weight: int
    long: bool = False  # only in the long column, or by name


KINDS = {kind.name: kind for kind in (
    Kind("kill", strikes.kill, 40),
    Kind("stop", strikes.stop, 6),
    Kind("interrupt", strikes.interrupt, 5),
    Kind("rivals", strikes.rivals, 5),
    Kind("inject", calls.inject, 20),
    Kind("halt", calls.halt, 6),
    Kind("order", calls.order, 3),
    Kind("small", disks.small, 6),
    Kind("damage", damage.damage, 5),
    Kind("log_damage", damage.log_damage, 5),
    Kind("altered", damage.altered, 3),
    Kind("taken", disks.taken, 5),
    Kind("readers", crowds.readers, 6),
    Kind("crowd", crowds.crowd, 2),
    Kind("host", crowds.host, 1, long=True),
    Kind("database_kill", database.kill, 4),
    Kind("database_rivals", database.rivals, 2),
    Kind("database_crowd", database.crowd, 1),
    Kind("database_outage", database.outage, 4),
    Kind("fleet", fleet.play, 1),
    Kind("fleet_crowd", fleet.crowd, 1, long=True),
)}

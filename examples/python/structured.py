"""An answer as a value of a type of the program."""

import sys
from dataclasses import dataclass
from typing import Annotated

from praxis import Agent


@dataclass
class Party:
    place: Annotated[str, "Where it takes place"]
    guests: list[str]


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
result = Agent(model, "You plan parties.").run("Plan a birthday party", output=Party)
party: Party = result.value
print(f"{len(party.guests)} guests at {party.place}, {result.usage['self']['output']} tokens")

"""A tool is a function: its name, its docstring and the types of its parameters are what the model sees."""

import sys
from dataclasses import dataclass
from typing import Annotated

from praxis import Agent, tool


@dataclass
class Weather:
    sky: str
    celsius: int


@tool
def get_weather(name: Annotated[str, "City, e.g. Paris"]) -> Weather:
    """Current weather"""
    return Weather("sunny", 24) if name == "Paris" else Weather("cloudy", 12)


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
agent = Agent(model, tools=[get_weather])
print(agent.run("Do I need an umbrella in Paris?").text)

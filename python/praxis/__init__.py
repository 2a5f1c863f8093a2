"""Praxis in Python: agents that keep a log of everything, on the C++ library.

    from praxis import Agent, tool

    @tool
    def weather(city: str) -> str:
        \"\"\"Current weather of a city.\"\"\"
        return "sunny"

    print(Agent("openai:gpt-5-mini", tools=[weather]).run("Do I need an umbrella in Paris?").text)

docs/c-and-python.md describes the package. Everything is thread-safe.
"""

from ._library import version
from .agent import Agent, Approver, AsyncRun, Run, Session
from .errors import (
    Cancelled,
    HandleError,
    InputError,
    JournalError,
    LimitError,
    ModelError,
    PolicyError,
    PraxisError,
    ToolError,
)
from .results import Decision, Event, Node, Result, Step
from .runtime import Runtime, default_runtime
from .tools import Context, SubAgent, Tool, tool

__all__ = [
    "Agent",
    "Approver",
    "AsyncRun",
    "Cancelled",
    "Context",
    "Decision",
    "Event",
    "HandleError",
    "InputError",
    "JournalError",
    "LimitError",
    "ModelError",
    "Node",
    "PolicyError",
    "PraxisError",
    "Result",
    "Run",
    "Runtime",
    "Session",
    "Step",
    "SubAgent",
    "Tool",
    "ToolError",
    "default_runtime",
    "tool",
    "version",
]

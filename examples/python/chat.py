"""Asks a model one question."""

import sys

from praxis import Agent, PraxisError

model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
agent = Agent(model, "You are terse.")
try:
    print(agent.run("Explain WebSockets").text)
except PraxisError as error:
    sys.exit(error.message)

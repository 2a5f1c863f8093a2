"""The model asks the user a question, who answers it while the turn is running."""

import sys

from praxis import Agent, Step


def ask(step: Step) -> str:
    print("travel asks:", step.prompt)
    return "By train"


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
agent = Agent(model, id="travel", builtin_tools={"ask_user": {}})
print(agent.run("Plan my trip to Lisbon", approve=ask).text)

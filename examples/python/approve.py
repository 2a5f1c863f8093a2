"""Every call of a tool waits for an approver, who lets it run with other arguments."""

import json
import sys

from praxis import Agent, Decision, Step, tool


@tool(needs_approval=True)
def shell(cmd: str) -> str:
    """Runs a command"""
    return "ran: " + cmd


def approve(step: Step) -> Decision:
    print(step.tool, "wants", json.dumps(step.arguments, separators=(",", ":")))
    return step.edit(cmd="make clean")


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
print(Agent(model, tools=[shell]).run("Clean the build", approve=approve).text)

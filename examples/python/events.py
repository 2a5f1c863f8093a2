"""The events of a turn; here, a tool that reports its progress."""

import json
import sys

from praxis import Agent, Context, tool


@tool
def copy_files(context: Context, count: int) -> str:
    """Copies files"""
    for done in range(1, count + 1):
        context.progress(f"file {done}", done / count)
    return "copied"


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
run = Agent(model, tools=[copy_files]).stream("Copy two files")
for event in run:
    if event.name == "tool.called":
        print(event["name"], json.dumps(event.arguments, separators=(",", ":")))
    elif event.name == "tool.progress":
        print(" ", event.text)
    elif event.name == "assistant.text":
        print(event.text)
run.result()  # raises if the turn did not finish

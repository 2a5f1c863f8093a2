"""The text of an answer while the model is still writing it."""

import sys

from praxis import Agent

model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
agent = Agent(model, "You plan trips.")
with agent.stream("Plan a trip to Lisbon") as run:
    for text in run.text():
        print(text, end="", flush=True)
    result = run.result()
print(f"\n({len(result.report['model_calls'])} step)")

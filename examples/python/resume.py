"""Start it twice with the same journal: the first process ends while a call awaits approval, the second decides and resumes.
Nothing that had finished is repeated."""

import sys

from praxis import Agent, Runtime, tool


@tool
def send_mail(to: str) -> str:
    """Sends the report"""
    print("sending to", to)
    return "sent"


model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
journal = sys.argv[2] if len(sys.argv) > 2 else "journal.db"
with Runtime(journal) as runtime:
    agent = Agent(model, tools=[send_mail], policy={"ask": ["send_mail"]}, runtime=runtime)
    waiting = runtime.pending()
    if waiting:
        result = agent.resume(waiting[0].run, *(step.approve() for step in waiting))
    else:
        result = agent.run("Send the report")
    if result.pending:
        print("waits for an approval:", result.pending[0].tool)
    else:
        print(result.text)

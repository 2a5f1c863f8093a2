"""An agent with two sub-agents that work at once. The program watches the tree, and stops the one that takes too long."""

import sys

from praxis import Agent, Runtime

model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
with Runtime() as runtime:
    archive = Agent(model, "Read the archive.", id="archive", runtime=runtime)
    web = Agent(model, "Look on the web.", id="web", runtime=runtime)
    lead = Agent(
        model,
        id="lead",
        runtime=runtime,
        tools=[archive.as_tool("archive", "Reads the archive"), web.as_tool("web", "Looks on the web")],
    )
    with lead.stream("What moves the sea?") as run:
        for event in run:
            if event.name == "child.spawned" and event.agent == "archive":
                runtime.command(event.child, "delete")
        print(run.result().text)
        for node in runtime.tree(run.session):
            print("  " * node.depth + node.path, node.status)

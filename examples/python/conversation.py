"""A conversation of several turns, which starts from messages of the program."""

import sys

from praxis import Agent

model = sys.argv[1] if len(sys.argv) > 1 else "openai:gpt-5-mini"
start = [
    {"role": "user", "content": "We are two, and like trains."},
    {"role": "assistant", "content": "Noted: two people, by train."},
]
with Agent(model, "You plan trips.").session(start) as session:
    for question in ("Where to in May?", "And for three days?"):
        print(session.run(question).text)
    print(len(session.messages()), "messages")

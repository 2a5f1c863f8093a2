#!/usr/bin/env python3
"""A scripted agent that speaks the Agent Client Protocol. Usage: agent.py BEHAVIOUR LOG

Each message of the client is a line of LOG. What the agent does with a prompt is the behaviour's.
"""
import json
import os
import sys
import time

behaviour, log = sys.argv[1], open(sys.argv[2], "a", buffering=1)
SESSION = "s1"
OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "never", "name": "Never", "kind": "reject_always"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    log.write(line)
    return json.loads(line)


def update(name, session=SESSION, **members):
    send({"method": "session/update",
          "params": {"sessionId": session, "update": {"sessionUpdate": name, **members}}})


def say(text, session=SESSION, **members):
    update("agent_message_chunk", session, content={"type": "text", "text": text}, **members)


def end(prompt, reason="end_turn"):
    send({"id": prompt["id"], "result": {"stopReason": reason}})


def ask(number, call, options=OPTIONS):
    """Asks for permission and returns the option that was selected, or the outcome without one."""
    send({"id": number, "method": "session/request_permission",
          "params": {"sessionId": SESSION, "toolCall": call, "options": options}})
    return answer_to(number)


def answer_to(number):
    while True:
        message = receive()
        if message.get("id") == number and "method" not in message:
            outcome = message.get("result", {}).get("outcome", {})
            return outcome.get("optionId", outcome.get("outcome", message))


def call(name, kind="execute", command="make"):
    return {"toolCallId": name, "title": "Run " + command, "kind": kind, "rawInput": {"command": command},
            "locations": [{"path": "/project/" + command}]}


def open_session():
    while True:
        message = receive()
        method, result = message.get("method"), {}
        if method == "initialize":
            version = {"old": 0, "words": "1"}.get(behaviour, 1)
            result = {"protocolVersion": version, "agentCapabilities": {}}
            if behaviour == "greeting":
                print("Welcome to the agent!")
        elif method == "session/new":
            result = {} if behaviour == "nameless" else {"sessionId": SESSION}
            if behaviour == "login":
                send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
                continue
            if behaviour == "in_folder":
                open(os.path.join(message["params"]["cwd"], "note.txt"), "w").write("written\n")
        elif method == "session/prompt":
            return message
        send({"id": message["id"], "result": result})


def usual(prompt):
    say("not for you", session="another")
    say("Hel", messageId="m1")
    say("lo.", messageId="m1")
    update("agent_thought_chunk", content={"type": "text", "text": "Hm."})
    update("tool_call", toolCallId="c1", title="Look", kind="read")
    update("agent_message_chunk", messageId="m1", content={"type": "image", "data": "", "mimeType": "image/png"})
    say("You said: " + prompt["params"]["prompt"][0]["text"], messageId="m2")
    update("something_new", text="?")
    end(prompt)


def permissions(prompt):
    """One question for each word of the prompt: its kind."""
    for number, kind in enumerate(prompt["params"]["prompt"][0]["text"].split()):
        name = "c" + str(number)
        say(kind + "=" + str(ask("q" + str(number), call(name, kind))) + " ")
    end(prompt)


def in_pieces(prompt):
    """What a question leaves out was said of the call before."""
    update("tool_call", **call("c1", command="deploy"))
    say(str(ask(1, {"toolCallId": "c1", "status": "pending"})))
    end(prompt)


def few_options(prompt):
    say(str(ask(1, call("c1"), [OPTIONS[0], OPTIONS[2]])) + " ")
    say(str(ask(2, call("c2"), [OPTIONS[0]])))
    end(prompt)


def too_much(prompt):
    say(str(ask(1, call("c1", command="x" * 100_000))))
    end(prompt)


def curious(prompt):
    for number, method in enumerate(("fs/read_text_file", "terminal/create", "made/up")):
        send({"id": number, "method": method, "params": {"sessionId": SESSION, "path": "/etc/passwd"}})
        say(str(answer_to(number)["error"]["code"]) + " ")
    send({"method": "made/up_too", "params": {}})
    end(prompt)


def wrong_ids(prompt):
    send({"id": "x", "result": {"stopReason": "end_turn"}})
    send({"id": 99, "result": {"stopReason": "end_turn"}})
    send({"id": 1, "result": {"stopReason": "end_turn"}})
    say("right")
    end(prompt)


def patient(prompt):
    """Works until it is cancelled."""
    say("working")
    while receive().get("method") != "session/cancel":
        pass
    log.write("cancelled\n")
    end(prompt, "cancelled")
    time.sleep(3600)


def cancelled_while_asking(prompt):
    log.write("got " + str(ask(1, call("c1"))) + "\n")
    end(prompt, "cancelled")


def deaf(prompt):
    """Never answers, and starts a process that outlives it unless all are ended."""
    if os.fork() == 0:
        time.sleep(3600)
    say("working")
    while True:
        time.sleep(3600)


def dies(prompt):
    say("half")
    sys.stderr.write("out of luck\n")
    sys.exit(3)


def endless(prompt):
    while True:
        say("x" * 1000)


def wordy(prompt):
    for _ in range(100):
        say("x" * 1000)
    end(prompt)


def noisy(prompt):
    while True:
        send({"id": 77, "result": {}})


def questions(prompt):
    number = 0
    while True:
        number += 1
        send({"id": number, "method": "made/up", "params": {}})


def garbled(prompt):
    sys.stdout.write('{"jsonrpc": "2.0", "id": 3, "result": \n')
    sys.stdout.flush()
    time.sleep(3600)


def huge(prompt):
    sys.stdout.write('{"jsonrpc": "2.0", "id": 3, "result": "')
    while True:
        sys.stdout.write("x" * 65536)


def deep(prompt):
    sys.stdout.write('{"jsonrpc": "2.0", "id": 3, "result": ' + "[" * 1000 + "]" * 1000 + "}\n")
    sys.stdout.flush()
    time.sleep(3600)


def fails(prompt):
    send({"id": prompt["id"], "error": {"code": -32603, "message": "no \x1b[31mmodel"}})


def no_result(prompt):
    send({"id": prompt["id"], "result": "done"})


REASONS = {"refusal": "refusal", "short": "max_tokens", "strange": "tea_time", "gave_up": "cancelled"}

prompt = open_session()
if behaviour in REASONS:
    say("So far.")
    end(prompt, REASONS[behaviour])
else:
    globals().get(behaviour, usual)(prompt)
while True:
    receive()

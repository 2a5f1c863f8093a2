#!/usr/bin/env python3
"""Drives `praxis acp` for tests, as an editor does. Usage: client.py SCENARIO FOLDER PRAXIS [ARGUMENT...]

Prints each message of the agent as a line, and exits with the agent's status.
"""
import json
import os
import signal
import subprocess
import sys

scenario, folder, command = sys.argv[1], sys.argv[2], sys.argv[3:]


class Agent:
    def __init__(self, choose=(), capabilities=None, buffers=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.choose = list(choose)  # what the user answers, one after the other
        self.buffers = buffers  # texts of open files by their paths; None: the editor offers no files
        self.number = 0
        self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities or {}})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.number

    def until(self, enough):
        for line in self.process.stdout:
            message = json.loads(line)
            print(json.dumps(message), flush=True)
            if enough(message):
                return message
            if self.buffers is not None and message.get("method", "").startswith("fs/"):
                self.use_file(message)
            elif "id" in message and "method" in message and self.choose:
                self.answer(message, self.choose.pop(0))
        sys.exit("the agent has ended")

    def use_file(self, message):
        path = message["params"]["path"]
        if path not in self.buffers:
            return self.send({"id": message["id"], "error": {"code": -32002, "message": "not open here"}})
        if message["method"] == "fs/read_text_file":
            return self.send({"id": message["id"], "result": {"content": self.buffers[path]}})
        self.buffers[path] = message["params"]["content"]
        self.send({"id": message["id"], "result": None})

    def answer(self, message, choice):
        if isinstance(choice, dict):
            result = choice
        else:
            kinds = {option["kind"]: option["optionId"] for option in message["params"]["options"]}
            names = {option["name"]: option["optionId"] for option in message["params"]["options"]}
            result = {"outcome": {"outcome": "selected", "optionId": kinds.get(choice, names.get(choice))}}
        self.send({"id": message["id"], "result": result})

    def ask(self, method, params):
        number = self.request(method, params)
        return self.until(lambda message: message.get("id") == number and "method" not in message)

    def new(self):
        return self.ask("session/new", {"cwd": folder, "mcpServers": []})["result"]["sessionId"]

    def say(self, session, text):
        return self.ask("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]})

    def end(self):
        self.process.stdin.close()
        for line in self.process.stdout:
            print(line, end="")
        sys.exit(self.process.wait(60))


def is_question(message):
    return "id" in message and "method" in message


def is_piece(message):
    return message.get("params", {}).get("update", {}).get("sessionUpdate") == "agent_message_chunk"


if scenario == "talk":
    agent = Agent()
    session = agent.new()
    agent.say(session, "Hi")
    agent.ask("session/set_mode", {"sessionId": session, "modeId": "other"})
    agent.say(session, "And you?")
    agent.ask("session/list", {"cwd": folder})
    agent.ask("session/fork", {"sessionId": session, "cwd": folder, "mcpServers": []})
    agent.ask("session/close", {"sessionId": session})
    agent.say(session, "Still there?")
    agent.ask("session/load", {"sessionId": session, "cwd": folder, "mcpServers": []})
    agent.ask("no/such/method", {})
elif scenario == "allow":
    agent = Agent(["allow_once", "reject_once", "allow_always"])
    for text in ("once", "no", "always"):
        agent.say(agent.new(), text)
    agent.say(agent.new(), "without a question")
elif scenario == "cancel":
    agent = Agent()
    session = agent.new()
    number = agent.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "Work"}]})
    agent.until(is_question)
    agent.send({"method": "session/cancel", "params": {"sessionId": session}})
    # In either order: the question is withdrawn by another thread than that which ends the turn.
    awaited = {"answer", "withdrawal"}

    def has_come(message):
        if message.get("id") == number and "method" not in message:
            awaited.discard("answer")
        if message.get("method") == "$/cancel_request":
            awaited.discard("withdrawal")
        return not awaited

    agent.until(has_come)
elif scenario == "kill":
    agent = Agent()
    session = agent.new()
    agent.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "once"}]})
    agent.until(is_question)
    agent.process.send_signal(signal.SIGKILL)
    agent.process.wait()
    print(json.dumps({"killed": True}), flush=True)
    agent = Agent(["allow_once"])
    agent.ask("session/load", {"sessionId": session, "cwd": folder, "mcpServers": []})
    agent.until(lambda message: is_piece(message) and message["params"]["update"]["content"]["text"] == "DONE")
    agent.say(session, "More?")
elif scenario == "question":
    agent = Agent()
    session = agent.new()
    agent.say(session, "Ask me")
    agent.say(session, "blue")
elif scenario == "skills":
    agent = Agent()
    session = agent.new()
    agent.say(session, "/greet the team")
    agent.ask("session/delete", {"sessionId": session})
    agent.ask("session/delete", {"sessionId": session})
    agent.ask("session/list", {"cwd": folder})
elif scenario == "prompts":
    agent = Agent()
    session = agent.new()
    agent.until(lambda message: "fix:greet" in json.dumps(message))
    agent.say(session, '/fix:greet "Ada Lovelace"')
    agent.say(session, "/fix:greet")
elif scenario == "files":
    note = os.path.join(folder, "work", "note.txt")
    agent = Agent(["allow_once"] * 9, {"fs": {"readTextFile": True, "writeTextFile": True}}, {note: "unsaved text\n"})
    agent.say(agent.new(), "Edit")
    print(json.dumps({"buffer": agent.buffers[note]}))
elif scenario == "only-reads":
    note = os.path.join(folder, "work", "note.txt")
    agent = Agent([], {"fs": {"readTextFile": True}}, {note: "unsaved text\n"})
    agent.say(agent.new(), "Edit")
elif scenario == "kill-in-write":
    note = os.path.join(folder, "work", "note.txt")
    files = {"fs": {"readTextFile": True, "writeTextFile": True}}
    agent = Agent([], files, {note: "unsaved text\n"})
    session = agent.new()
    agent.request("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "Edit"}]})
    agent.until(lambda message: message.get("method") == "fs/write_text_file")
    agent.process.send_signal(signal.SIGKILL)
    agent.process.wait()
    agent = Agent([], files, {note: "unsaved text\n"})
    agent.ask("session/load", {"sessionId": session, "cwd": folder, "mcpServers": []})
    agent.until(lambda message: message.get("method") == "session/request_permission")
elif scenario == "form":
    agent = Agent([{"action": "accept", "content": {"answer": "green"}}],
                  {"elicitation": {"form": {}}})
    agent.say(agent.new(), "Ask me")
agent.end()

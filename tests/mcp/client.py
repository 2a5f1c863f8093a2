#!/usr/bin/env python3
"""Drives `praxis mcp serve` for tests. Usage: client.py SCENARIO PRAXIS [ARGUMENT...]

Prints each message of the server as a line, and exits with the server's status.
"""
import json
import signal
import subprocess
import sys
import time

scenario, command = sys.argv[1], sys.argv[2:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {}}}


def send(message):
    server.stdin.write((message if isinstance(message, str) else json.dumps({"jsonrpc": "2.0", **message})) + "\n")
    server.stdin.flush()


def ask(number, method, params=None):
    """Sends a request and prints messages up to its answer."""
    send({"id": number, "method": method, **({"params": params} if params is not None else {})})
    return until(lambda message: message.get("id") == number)


def until(enough):
    for line in server.stdout:
        message = json.loads(line)
        print(json.dumps(message), flush=True)
        if enough(message):
            return message
    sys.exit("the server has ended")


TASKS = {"_meta": {**MODERN["_meta"], "io.modelcontextprotocol/clientCapabilities":
                   {"extensions": {"io.modelcontextprotocol/tasks": {}}, "elicitation": {"form": {}}}}}


def await_task(task, status):
    """Asks for a task until it has this status, a minute at most."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        result = ask("get", "tasks/get", {"taskId": task, **TASKS})["result"]
        if result["status"] == status:
            return result
        time.sleep(0.02)
    sys.exit("the task is never " + status)


if scenario == "handshake":
    ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    send({"method": "notifications/initialized"})
    ask("two", "tools/list")
    ask(3, "tools/call", {"name": "greeter", "arguments": {"prompt": "Hi"}, "_meta": {"progressToken": "p"}})
    ask(4, "tools/call", {"name": "greeter", "arguments": {"prompt": 5}})
    ask(5, "tools/call", {"name": "nobody", "arguments": {}})
    ask(6, "no/such/method")
    send("this is not JSON")
    until(lambda message: message.get("id", 0) is None)
    ask(7, "ping")
elif scenario == "stateless":
    ask(1, "server/discover", MODERN)
    ask(2, "tools/list", MODERN)
    ask(3, "tools/call", {"name": "greeter", "arguments": {"prompt": "Hi"}, **MODERN})
    ask(4, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}})
    ask(5, "server/discover", {})
    ask(6, "tools/list", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})
elif scenario == "library":
    ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    run = ask(2, "tools/call", {"name": "greeter", "arguments": {"prompt": "Hi"}})["result"]["structuredContent"]["run"]
    ask(3, "resources/list")
    ask(4, "resources/templates/list")
    ask(5, "resources/read", {"uri": "praxis://runs/" + run})
    ask(6, "resources/read", {"uri": "praxis://runs/none"})
    ask(7, "resources/read", {"uri": "file:///etc/passwd", **MODERN})
    ask(8, "prompts/list", MODERN)
    ask(9, "prompts/get", {"name": "review", "arguments": {"file": "a.c", "lines": "3"}})
    ask(10, "prompts/get", {"name": "review", "arguments": {"file": "a.c"}})
    ask(11, "prompts/get", {"name": "review", "arguments": {"file": "a.c", "lines": "many"}})
    ask(12, "prompts/get", {"name": "none"})
    ask(13, "ping")
elif scenario == "tasks":
    begun = ask(1, "tools/call", {"name": "greeter", "arguments": {"prompt": "Hi"}, **TASKS})["result"]
    ask(2, "tasks/get", {"taskId": "nothing", **TASKS})
    await_task(begun["taskId"], "completed")
    slow = ask(3, "tools/call", {"name": "sleeper", "arguments": {"prompt": "Sleep"}, **TASKS})["result"]["taskId"]
    ask(4, "tasks/get", {"taskId": slow, **TASKS})
    ask(5, "tasks/cancel", {"taskId": slow, **TASKS})
    await_task(slow, "cancelled")
    ask(6, "tasks/get", {"taskId": slow, **MODERN})
elif scenario == "tasks-kill":
    task = ask(1, "tools/call", {"name": "asker", "arguments": {"prompt": "Ask"}, **TASKS})["result"]["taskId"]
    waits = await_task(task, "input_required")
    server.send_signal(signal.SIGKILL)
    server.wait()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    step = list(await_task(task, "input_required")["inputRequests"])[0]
    answer = {"action": "accept", "content": {"answer": "blue"}}
    ask(2, "tasks/update", {"taskId": task, "inputResponses": {step: answer}, **TASKS})
    await_task(task, "completed")
elif scenario == "tasks-end":
    task = ask(1, "tools/call", {"name": "napper", "arguments": {"prompt": "Nap"}, **TASKS})["result"]["taskId"]
    server.stdin.close()
    server.wait()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    await_task(task, "completed")
elif scenario == "cancel":
    send({"id": 1, "method": "tools/call",
          "params": {"name": "sleeper", "arguments": {"prompt": "Sleep"}, "_meta": {"progressToken": 9}}})
    until(lambda message: message.get("method") == "notifications/progress" )
    send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    ask(2, "ping")
server.stdin.close()
for line in server.stdout:
    print(line, end="")
sys.exit(server.wait(60))

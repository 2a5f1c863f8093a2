#!/usr/bin/env python3
"""An MCP server with tasks for tests, on standard input and output. Usage: task_server.py ERA FILE

ERA is `modern` (2026-07-28) or `handshake` (2025-11-25). FILE gets a line for what was asked; FILE.tasks has the tasks, which
so survive this process. A task of `build` works while there is a FILE.gate, and that of `shirt` asks for a size.
"""
import json
import os
import sys

era, notes = sys.argv[1:3]
MODERN = "2026-07-28"
EXTENSION = "io.modelcontextprotocol/tasks"


def note(text):
    with open(notes, "a") as file:
        file.write(text + "\n")


def tasks():
    return json.load(open(notes + ".tasks")) if os.path.exists(notes + ".tasks") else {}


def keep(id, **members):
    all = tasks()
    all.setdefault(id, {}).update(members)
    with open(notes + ".new", "w") as file:
        json.dump(all, file)
    os.rename(notes + ".new", notes + ".tasks")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result(id):
    task = tasks()[id]
    return {"content": [{"type": "text", "text": "built" if task["tool"] == "build" else "size " + json.dumps(task["answer"])}]}


FORM = {"method": "elicitation/create",
        "params": {"mode": "form", "message": "Which size?",
                   "requestedSchema": {"type": "object", "properties": {"size": {"type": "string", "enum": ["S", "L"]}},
                                       "required": ["size"]}}}


def state(id):
    task = tasks()[id]
    if task.get("cancelled"):
        return "cancelled"
    if task["tool"] == "broken":
        return "failed"
    if task["tool"] == "shirt" and "answer" not in task:
        return "input_required"
    return "working" if task["tool"] == "build" and os.path.exists(notes + ".gate") else "completed"


def shown(id):
    status, time = state(id), "2026-11-25T10:30:00Z"
    task = {"taskId": id, "status": status, "statusMessage": "It is " + status, "createdAt": time, "lastUpdatedAt": time}
    if era != "modern":
        return {**task, "ttl": None, "pollInterval": 50}
    task |= {"ttlMs": None, "pollIntervalMs": 50, "resultType": "complete"}
    if status == "completed":
        task["result"] = result(id)
    if status == "failed":
        task["error"] = {"code": -32603, "message": "the disk is full"}
    if status == "input_required":
        task["inputRequests"] = {"size": FORM}
    return task


def call(params):
    tool = params["name"]
    note("call " + tool)
    capabilities = params.get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities", {})
    wanted = EXTENSION in capabilities.get("extensions", {}) if era == "modern" else "task" in params
    if not wanted:
        return {"error": {"code": -32021, "message": "the client takes no tasks"}}
    id = f"task-{len(tasks()) + 1}"
    keep(id, tool=tool)
    made = shown(id)
    for later in ("result", "inputRequests", "error"):
        made.pop(later, None)
    made["status"] = "working"
    return {**made, "resultType": "task"} if era == "modern" else {"task": made}


def fetch(id):
    """Answers `tasks/result`, which asks on the way."""
    note("result " + id)
    if state(id) == "failed":
        return {"error": {"code": -32603, "message": "the disk is full"}}
    if state(id) == "input_required":
        send({"id": "q1", **FORM})
        for line in sys.stdin:
            message = json.loads(line)
            if message.get("id") == "q1":
                keep(id, answer=message["result"])
                break
            if message.get("method") == "notifications/cancelled":
                return None
    return result(id)


def about_task(method, params):
    id = params["taskId"]
    if id not in tasks():
        return {"error": {"code": -32602, "message": "there is no task " + id}}
    if method == "tasks/get":
        if not tasks()[id].get("seen"):
            keep(id, seen=True)
            note("get " + id)
        return shown(id)
    if method == "tasks/cancel":
        note("cancel " + id)
        keep(id, cancelled=True)
        return {"resultType": "complete"} if era == "modern" else shown(id)
    if method == "tasks/update" and era == "modern":
        note("update " + id)
        keep(id, answer=params["inputResponses"]["size"])
        return {"resultType": "complete"}
    if method == "tasks/result" and era != "modern":
        return fetch(id)
    return {"error": {"code": -32601, "message": "unknown method " + method}}


def answer(method, params):
    if method.startswith("tasks/"):
        return about_task(method, params)
    if method == "server/discover" and era == "modern":
        return {"resultType": "complete", "supportedVersions": [MODERN],
                "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}}}
    if method == "initialize" and era != "modern":
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": "fixture", "version": "1"},
                "capabilities": {"tools": {}, "tasks": {"cancel": {}, "requests": {"tools": {"call": {}}}}}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": "A tool.", "inputSchema": {"type": "object"},
                           "execution": {"taskSupport": "required"}} for name in ("build", "shirt", "broken", "await_task")]}
    if method == "tools/call":
        return call(params)
    return {"error": {"code": -32601, "message": "unknown method " + method}}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        given = answer(request["method"], request.get("params", {}))
        if given is not None:
            send({"id": request["id"], **(given if "error" in given and "status" not in given else {"result": given})})

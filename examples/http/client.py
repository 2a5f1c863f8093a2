#!/usr/bin/env python3
"""Starts a run on a Praxis server and prints its answer as it is written.

Needs Python's standard library alone. When the connection is lost, it comes back where it was.
Usage: PRAXIS_TOKEN=... client.py URL AGENT PROMPT
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request

url, agent, prompt = sys.argv[1:4]
token = os.environ["PRAXIS_TOKEN"]


def request(path, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    all_headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})}
    return urllib.request.urlopen(urllib.request.Request(url + path, data, all_headers), timeout=60)


# The key makes this safe to repeat: the same key is the same run.
made = json.load(request("/api/v1/runs", {"agent": agent, "prompt": prompt}, {"Idempotency-Key": f"client-{os.getpid()}"}))

last, event, shown = "", "", ""
ended = False
while not ended:
    try:
        for line in request(f"/api/v1/runs/{made['id']}/events", headers={"Last-Event-ID": last} if last else {}):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                last = value
            elif name == "event":
                event = value
            elif name == "data" and event in ("text.delta", "assistant.text"):
                text = json.loads(value)["text"]
                if event == "text.delta":
                    shown += text
                    print(text, end="", flush=True)
                else:  # the whole text; whoever came late has seen only a part of it, or nothing
                    print("" if shown.endswith(text) else text)
                    shown = ""
            elif name == "data" and event.startswith("turn.") and event != "turn.started":
                ended = True
                break
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        time.sleep(0.2)

run = json.load(request(f"/api/v1/runs/{made['id']}"))
print(f"{run['status']}: {run['usage']['subtree']['total']} tokens", file=sys.stderr)
sys.exit(0 if run["success"] else 1)

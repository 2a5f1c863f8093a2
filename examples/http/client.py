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

shown = ""  # what the terminal has of the answer that is being written


def show(text, whole=False):
    global shown
    if text.startswith(shown):
        print(text[len(shown):], end="", flush=True)
    elif whole or not shown.startswith(text):  # the answer was written anew, and differs
        print("\n" + text, end="", flush=True)
    else:
        return
    shown = text


last, event = "", ""
ended = False
while not ended:
    answer = ""  # the first piece after coming back has all of the answer so far
    try:
        for line in request(f"/api/v1/runs/{made['id']}/events?below=false", headers={"Last-Event-ID": last} if last else {}):
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                last = value
            elif name == "event":
                event = value
                if event == "attempt.superseded":
                    answer = ""
            elif name == "data" and event == "text.delta":
                answer += json.loads(value)["text"]
                show(answer)
            elif name == "data" and event == "assistant.text":
                show(json.loads(value)["text"], whole=True)
                print()
                shown = answer = ""
            elif name == "data" and event.startswith("turn.") and event != "turn.started":
                ended = True
                break
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        time.sleep(0.2)

run = json.load(request(f"/api/v1/runs/{made['id']}"))
print(f"{run['status']}: {run['usage']['subtree']['total']} tokens", file=sys.stderr)
sys.exit(0 if run["success"] else 1)

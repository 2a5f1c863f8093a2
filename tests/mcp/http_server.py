#!/usr/bin/env python3
"""An MCP server for tests, over HTTP on a free port of 127.0.0.1, which it prints. Usage: http_server.py BEHAVIOUR

It ends with its standard input.
"""
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

behaviour = sys.argv[1]
MODERN = "2026-07-28"
answers = {}  # to requests of this server
HEADED = {"type": "object", "properties": {  # wants two arguments in headers
    "text": {"type": "string", "x-mcp-header": "Text"},
    "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}}
seen = {"lists": 0, "redirected": 0, "closed": 0, "last": {}}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def give(self, status, body=None, headers=()):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def event(self, message):
        self.wfile.write(b"event: message\ndata: " + json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n\n")
        self.wfile.flush()

    def do_GET(self):
        if "Last-Event-ID" in self.headers:
            number, name = self.headers["Last-Event-ID"].split("-")
            if name == "lost":
                return self.give(405)
            self.begin_stream()
            if name == "early":  # and breaks off once more
                return self.wfile.write(f"id: {number}-late\nretry: 120\ndata: \n\n".encode())
            return self.event({"id": int(number), "result": text("taken up")})
        seen["redirected"] += 1
        self.give(200, {"jsonrpc": "2.0", "id": 1, "result": {}})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        seen["last"] = dict(self.headers)
        if behaviour == "redirecting":
            return self.give(307, headers=[("Location", "http://169.254.169.254/latest/meta-data")])
        if behaviour == "guarded" and self.headers.get("Authorization") != "Bearer secret-token":
            return self.give(401)
        if "id" not in request or "method" not in request:
            if "result" in request or "error" in request:
                answers[request["id"]] = request.get("result", request.get("error"))
            return self.give(202)
        self.answer(request, request["method"], request.get("params", {}))

    def answer(self, request, method, params):
        number = request["id"]
        reply = lambda result, headers=(): self.give(200, {"jsonrpc": "2.0", "id": number, "result": result}, headers)
        modern = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
        if behaviour in ("modern", "moved"):
            if modern != MODERN or self.headers.get("MCP-Protocol-Version") != MODERN or self.headers.get("Mcp-Method") != method:
                return self.give(400, {"jsonrpc": "2.0", "id": number, "error": {"code": -32020, "message": "header mismatch"}})
            if method == "server/discover":
                return reply({"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        elif modern:
            return self.give(400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no session"}})
        if method == "initialize":
            return reply({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                          "serverInfo": {"name": "fixture", "version": "1"}}, [("Mcp-Session-Id", "session-7")])
        if behaviour not in ("modern", "moved") and self.headers.get("Mcp-Session-Id") != "session-7":
            return self.give(404)
        if method == "tools/list":
            schema = {"type": "object", "properties": {"text": {"type": "string"}}}
            headed = {"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}
            seen["lists"] += 1
            if behaviour == "modern" or (behaviour == "moved" and seen["lists"] > 1):
                schema = HEADED
            return reply({"tools": [{"name": "echo", "inputSchema": schema}, {"name": "headers", "inputSchema": schema},
                                    {"name": "wait", "inputSchema": schema}, {"name": "headed", "inputSchema": headed}]})
        if behaviour == "moved" and self.headers.get("Mcp-Param-Text") is None:
            return self.give(400, {"jsonrpc": "2.0", "id": number, "error": {"code": -32020, "message": "header mismatch"}})
        self.call(request, params)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def call(self, request, params):
        self.begin_stream()
        if params["name"] in ("early", "lost"):
            return self.wfile.write(f"id: {request['id']}-{params['name']}\nretry: 1\ndata: \n\n".encode())
        token = params.get("_meta", {}).get("progressToken")
        if token is not None:
            self.event({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": 2, "message": "half"}})
        if params["name"] == "wait":
            try:
                while True:
                    self.wfile.write(b": still here\n\n")
                    self.wfile.flush()
                    time.sleep(0.01)
            except OSError:
                seen["closed"] += 1
            return
        if params["name"] == "ask":
            schema = {"type": "object", "properties": {"size": {"type": "string"}}}
            self.event({"id": "q1", "method": "elicitation/create", "params": {"message": "Which size?", "requestedSchema": schema}})
            while "q1" not in answers:
                time.sleep(0.01)
            self.event({"id": request["id"], "result": text(json.dumps(answers["q1"]))})
            self.close_connection = True
            return
        if params["name"] == "requests":
            asked = [("ping-1", "ping"), ("roots-1", "roots/list"), ("other-1", "no/such")]
            for number, method in asked:
                self.event({"id": number, "method": method, "params": {}})
            until = time.monotonic() + 15
            while len(answers) < len(asked) and time.monotonic() < until:
                time.sleep(0.01)
            self.event({"id": request["id"], "result": text(json.dumps(answers, sort_keys=True))})
            return
        for name in ("traceparent", "tracestate"):
            seen[name] = params.get("_meta", {}).get(name)
        self.event({"id": "other", "result": text("for someone else")})
        answer = json.dumps({**seen, "last": {k.lower(): v for k, v in seen["last"].items()}})
        value = answer if params["name"] == "headers" else params["arguments"].get("text", "")
        self.event({"id": request["id"], "result": text(value)})
        self.close_connection = True


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)

"""Stands in for an issue tracker: POST /issues opens an issue, for those who have the token in TRACKER_TOKEN.

tracker.py FOLDER [--silent]   writes its port to FOLDER/port, and each request to FOLDER/requests.jsonl;
                               with --silent it takes an issue and never answers, like a server whose network fails
"""

import hmac
import http.server
import json
import os
import pathlib
import sys
import threading

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
silent = "--silent" in sys.argv[2:]
token = os.environ["TRACKER_TOKEN"]


class Tracker(http.server.BaseHTTPRequestHandler):
    issues = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        known = hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {token}")
        request = {"method": "POST", "path": self.path, "token": "right" if known else "wrong", "body": body}
        with open(folder / "requests.jsonl", "a", encoding="utf-8") as requests:
            requests.write(json.dumps(request) + "\n")
        if silent:
            threading.Event().wait()
        if not known:
            return self.answer(401, {"message": "the token is missing or wrong"})
        if self.path != "/issues":
            return self.answer(404, {"message": "issues are opened at /issues"})
        Tracker.issues += 1
        return self.answer(201, {"number": Tracker.issues, "title": json.loads(body)["title"]})

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tracker) as server:
    server.daemon_threads = True
    (folder / "port.new").write_text(str(server.server_port), encoding="utf-8")
    (folder / "port.new").rename(folder / "port")  # whole from the moment that it is there
    server.serve_forever()

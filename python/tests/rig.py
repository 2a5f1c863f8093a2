"""For the tests: models that answer from a script, without network or key."""

import json
import pathlib
import tempfile
import unittest

import praxis


class ScriptTest(unittest.TestCase):
    """Has a folder and a runtime of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="praxis-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runtime = praxis.Runtime()
        self.addCleanup(self.runtime.close)
        self.scripts = 0

    def script(self, *lines):
        """The name of a model that answers with these lines; a text stands for {"text": ...}."""
        self.scripts += 1
        path = self.folder / f"{self.scripts}.jsonl"
        texts = [json.dumps({"text": line} if isinstance(line, str) else line) for line in lines]
        path.write_text("\n".join(texts) + "\n")
        return f"script:{path}"

    def agent(self, *lines, **settings):
        settings.setdefault("runtime", self.runtime)
        return praxis.Agent(self.script(*lines), **settings)


def call(name, **arguments):
    """A line in which the model calls a tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}

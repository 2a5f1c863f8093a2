"""Each program of examples/python prints what the file next to its script says."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def outcome(name, folder):
    """What the program prints with its script; `resume` runs twice."""
    scripts = EXAMPLES / "python/scripts"
    if not (scripts / f"{name}.jsonl").exists():
        scripts = EXAMPLES / "scripts"  # it is the same as the one in C++
    command = [sys.executable, EXAMPLES / f"python/{name}.py", f"script:{scripts}/{name}.jsonl", f"{folder}/journal.db"]
    printed = ""
    for _ in range(2 if name == "resume" else 1):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        printed += done.stdout + done.stderr
    return printed, (scripts / f"{name}.out").read_text()


class Examples(unittest.TestCase):
    def test_each_prints_what_its_file_says(self):
        names = sorted(path.stem for path in (EXAMPLES / "python").glob("*.py"))
        self.assertGreaterEqual(len(names), 10)
        for name in names:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                printed, expected = outcome(name, folder)
                self.assertEqual(printed, expected)


if __name__ == "__main__":
    unittest.main()

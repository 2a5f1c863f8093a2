"""Builds share/container/Containerfile in the root of a Debian system, and tries the server that the image starts.

    container.py FILE CONTEXT ROOT

Carries out the few instructions that the file consists of, with chroot in place of a container, since a daemon for
containers is not there everywhere. Needs root.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def instructions(file: Path) -> list[tuple[str, str]]:
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return [tuple(each.split(" ", 1)) for each in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()]


def build(file: Path, context: Path, root: Path) -> tuple[dict[str, str], str, str, list[str]]:
    """What a container of the image starts with: environment, user, folder, command."""
    environment, user, folder, command = dict(PATH), "root", "/", []
    for name, value in instructions(file):
        if name == "COPY":
            pattern, to = value.split()
            (root / to.strip("/")).mkdir(exist_ok=True)
            found = list(context.glob(pattern))
            if not found:
                sys.exit(f"container: {context} has no {pattern}")
            for each in found:
                shutil.copy(each, root / to.strip("/"))
        elif name == "RUN":
            done = subprocess.run(["chroot", root, "/bin/sh", "-ec", value], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, env={**PATH, "DEBIAN_FRONTEND": "noninteractive"})
            if done.returncode != 0:
                sys.exit(f"container: {value.split()[0]} fails: {done.stdout[-2000:]}")
        elif name == "ENV":
            environment.update(each.split("=", 1) for each in shlex.split(value))
        elif name == "USER":
            user = value
        elif name == "WORKDIR":
            folder = value
        elif name in ("ENTRYPOINT", "CMD"):
            command += json.loads(value)
        elif name not in ("FROM", "VOLUME", "EXPOSE"):
            sys.exit(f"container: {name} is an instruction that this test does not know")
    return environment, user, folder, command


def main() -> None:
    file, context, root = (Path(each) for each in sys.argv[1:])
    environment, user, folder, command = build(file, context, root)
    inside = ["chroot", f"--userspec={user}", root, "/usr/bin/env", "--chdir", folder]
    server = subprocess.Popen([*inside, *command, "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        seen = []
        for line in server.stderr:
            seen.append(line)
            if found := re.search(r"serving on \S*:(\d+)", line):
                break
        else:
            sys.exit(f"container: the server does not start: {''.join(seen)}")
        token = (root / "var/lib/praxis/server-token").read_text().strip()
        request = urllib.request.Request(f"http://127.0.0.1:{found[1]}/api/v1/runs", None, {"Authorization": f"Bearer {token}"})
        if json.load(urllib.request.urlopen(request, timeout=60)).get("runs") != []:
            sys.exit("container: the server has runs at its first start")
    finally:
        server.terminate()
    server.stderr.close()
    if server.wait(60) != 0:
        sys.exit(f"container: the server ends with {server.returncode}")


main()

"""Tries to get out of a sandbox at random, as its seed says: probes (probes.py), and moves on files.

Usage: hostile.py SETTINGS, a JSON object:
  seed, moves            which moves, and how many
  probes                 names of probes to run
  reach                  files outside that must stay as they are and unread
  outside                true: only the moves that leave the rest of the machine alone
  environment            variables of the probes
Prints what it could read, and `OPEN NAME` for a probe that escaped.
"""
import json
import os
import random
import shutil
import signal
import sys

sys.dont_write_bytecode = True
settings = json.loads(sys.argv[1])
os.environ.update(settings["environment"])
sys.path.insert(0, settings["scripts"])
import probes  # noqa: E402  (reads the environment)

WS = os.environ["WS"]
any_of = random.Random(settings["seed"])
INVISIBLE = "\x1b]0;title\x07\x9b\u202e\u2066\u200b\u061c\u00ad\U000e0041\ufe0f\r"
made = 0


def new():
    """A path in the writable folder that does not exist."""
    global made
    made += 1
    return f"{WS}/made{made}"


def way_to(path):
    """The same file by another name."""
    folder, name = os.path.split(path)
    ways = any_of.randrange(8)
    if ways == 0:
        return WS + "/" + os.path.relpath(path, WS)
    if ways == 1:
        return "/proc/self/root" + path
    if ways == 2:
        return f"/proc/{os.environ['PID']}/root{path}"
    if ways == 3:
        link = new()
        os.symlink(folder, link)
        return link + "/" + name
    if ways == 4:
        link = new()
        os.symlink(os.path.relpath(path, WS), link)
        return link
    if ways == 5:
        return f"/proc/self/fd/{os.open(WS, os.O_RDONLY)}/{os.path.relpath(path, WS)}"
    return path


def show(path):
    with open(path, "rb") as file:
        print("READ", file.read(4096))


def list_it(path):
    print("LIST", os.listdir(os.path.dirname(path)))


def append(path):
    with open(path, "a") as file:
        file.write("evil")


def replace(path):
    mine = new()
    append(mine)
    os.replace(mine, path)


def put_a_link(path):
    os.rename(path, new())
    os.symlink(os.environ["OUT"] + "/secret", path)


def exchange(path):
    mine = new()
    os.mkdir(mine)
    probes.call(316, -100, mine.encode(), -100, any_of.choice([path, os.path.dirname(path)]).encode(), 2)


def link(path):
    mine = new()
    os.link(path, mine)
    append(mine)


def take(path):
    os.rename(path, new())


def take_folder(path):
    os.rename(os.path.dirname(path), new())


def remove_folder(path):
    shutil.rmtree(os.path.dirname(path))


def bind_socket(path):
    one = probes.socket.socketpair(probes.socket.AF_UNIX, probes.socket.SOCK_DGRAM)[0]
    one.bind(os.path.dirname(path) + "/bound")


def set_id(path):
    mine = new()
    shutil.copy("/usr/bin/true", mine)
    for way in (lambda: os.chmod(mine, 0o6755), lambda: os.chmod(path, 0o4755), lambda: os.mknod(mine + "n", 0o104755),
                lambda: os.mkdir(mine + "d", 0o2777), lambda: os.setxattr(mine, "security.capability", b"\1\0\0\2" + bytes(16))):
        try:
            way()
        except OSError:
            pass


def leave_a_process(_):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.alarm(60)
            signal.pause()
        os._exit(0)


def kill_others(_):
    os.kill(any_of.randrange(2, 1 << 16), signal.SIGKILL)


def trace_others(_):
    probes.call(101, 16, any_of.randrange(2, 1 << 16), 0, 0)


def many_processes(_):
    for _ in range(100):
        if os.fork() == 0:
            signal.alarm(5)
            signal.pause()


def much_memory(_):
    held = [bytearray(os.urandom(1)) * (64 << 20) for _ in range(8)]
    print("OPEN much_memory", len(held))


def many_descriptors(_):
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(5000)]
    print("OPEN many_descriptors", len(held))


def unseen(_):
    print("shown: " + INVISIBLE)


def leave_links(path):
    os.symlink(os.path.dirname(path), f"{WS}/team/{any_of.choice(['.git', 'x', 'notes'])}")
    os.mkfifo(f"{WS}/team/{any_of.choice(['.env', '.mcp.json', 'pipe'])}")


ON_FILES = [show, show, list_it, append, replace, put_a_link, exchange, link, take, take_folder, remove_folder,
            lambda path: os.truncate(path, 0), lambda path: os.chmod(path, 0o666), os.unlink,
            lambda path: os.utime(path, (1, 1)), lambda path: os.mkdir(os.path.dirname(path) + "/evil"),
            lambda path: os.setxattr(path, "user.evil", b"1"), lambda path: os.chown(path, os.getuid(), -1)]
# These would disturb the machine outside of a sandbox.
ON_THE_REST = [bind_socket, set_id, leave_a_process, kill_others, trace_others, many_processes, much_memory,
               many_descriptors, unseen, leave_links]


def in_a_child(work):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(4)
        try:
            work()
        except BaseException:
            pass
        try:
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def probe(name):
    if probes.probes[name]() not in (False, None):
        print("OPEN", name)


def move():
    all_moves = ON_FILES if settings["outside"] else ON_FILES + ON_THE_REST
    any_of.choice(all_moves)(way_to(any_of.choice(settings["reach"])))


def some_moves():
    for _ in range(settings["moves"]):
        try:
            move()
        except Exception:
            pass


for one in settings["probes"]:
    in_a_child(lambda name=one: probe(name))
in_a_child(some_moves)
print("END")

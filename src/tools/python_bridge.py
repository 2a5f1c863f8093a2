# Runs code that a model wrote and gives it access to the agent's tools. The host sends the code in the first line of
# descriptor 3. After that, each line to the host is a list of requests, and each line back is one answer.
import sys

sys.path[:] = [entry for entry in sys.path if entry]  # import libraries, never files of the current folder

import ast
import builtins
import json
import keyword
import linecache
import os
import random
import threading
import traceback
import types
from concurrent.futures import Future, ThreadPoolExecutor

CHANNEL = 3
CODE = "<code>"


class ToolError(Exception):
    """A call or a fork failed; the text states the reason."""


class Fork:
    """A copy of this agent that works on its own prompt; wait(fork) returns its answer."""

    def __init__(self, number):
        self._number = number

    def __repr__(self):
        return f"<fork {self._number}>"


class Host:
    """The other end of the channel. Thread-safe."""

    def __init__(self):
        os.set_inheritable(CHANNEL, False)
        self._answers = open(CHANNEL, "rb", closefd=False)
        self._changed = threading.Condition()
        self._open = {}
        self._requests = 0
        start = json.loads(self._answers.readline())
        self.code, self.tools, self.seed = start["code"], start["tools"], start["seed"]
        self._max_open, self._max_line = start["max_open"], start["max_line"]
        self._process = os.getpid()
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, requests):
        """Sends requests as one batch and returns the futures of their answers."""
        if os.getpid() != self._process:
            raise ToolError("only the first process of the code can call tools")
        if len(requests) > self._max_open:
            raise ToolError(f"at most {self._max_open} requests at once, not {len(requests)}")
        with self._changed:
            self._changed.wait_for(lambda: len(self._open) + len(requests) <= self._max_open)
            first = self._requests + 1
            line = self._encode(first, requests)
            self._requests += len(requests)
            futures = [Future() for _ in requests]
            self._open.update(enumerate(futures, first))
            while line:
                line = line[os.write(CHANNEL, line):]
        return futures

    def ask(self, **request):
        return self.send([request])[0].result()

    def _encode(self, first, requests):
        if not requests:
            return b""
        numbered = [{"id": number, **request} for number, request in enumerate(requests, first)]
        line = json.dumps(numbered, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        if len(line) > self._max_line:
            raise ToolError(f"a request of {len(line)} bytes is too long; at most {self._max_line}")
        return line

    def _listen(self):
        for line in self._answers:
            answer = json.loads(line)
            with self._changed:
                future = self._open.pop(answer["id"])
                self._changed.notify_all()
            if "error" in answer:
                future.set_exception(ToolError(answer["error"]))
            else:
                future.set_result(answer["value"])


def call(tool_name, /, **arguments):
    """Calls a tool of the agent and returns its structured result, or else its text."""
    return host.ask(op="call", tool=tool_name, arguments=arguments)


def fork(prompt):
    """Starts a copy of this agent, with its conversation, on the prompt."""
    return Fork(host.ask(op="fork", prompt=prompt))


def wait(forks):
    """Waits for a fork and returns its answer, or for several and returns their answers in order."""
    if isinstance(forks, Fork):
        return wait([forks])[0]
    return results(host.send([{"op": "wait", "fork": one._number} for one in forks]))


def gather(*items, return_exceptions=False):
    """Runs several things in parallel and returns their results in order. Items are pairs (tool name, arguments),
    sent as one batch, or functions without arguments. Raises the first error when all are done, or returns errors
    in place of results if return_exceptions is set."""
    if len(items) == 1 and not callable(items[0]) and not is_pair(items[0]):
        items = tuple(items[0])
    for item in items:
        if not callable(item) and not is_pair(item):
            raise TypeError(f"gather takes pairs (tool name, arguments) and functions without arguments, not {item!r}")
    pairs = [item for item in items if not callable(item)]
    calls = iter(host.send([{"op": "call", "tool": name, "arguments": arguments} for name, arguments in pairs]))
    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(item) if callable(item) else next(calls) for item in items]
    return results(futures, return_exceptions)


def is_pair(item):
    return (isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)
            and isinstance(item[1], dict))


def results(futures, return_exceptions=False):
    errors = [future.exception() for future in futures]
    if not return_exceptions:
        for error in errors:
            if error is not None:
                raise error
    return [error if error is not None else future.result() for future, error in zip(futures, errors)]


def tool_function(name):
    def function(**arguments):
        return call(name, **arguments)

    function.__name__ = function.__qualname__ = name
    return function


def names_for_code():
    given = {"fork": fork, "wait": wait, "call": call, "gather": gather, "tools": host.tools, "ToolError": ToolError}
    for name in host.tools:
        usable = name.isidentifier() and not keyword.iskeyword(name) and not hasattr(builtins, name)
        if usable:
            given.setdefault(name, tool_function(name))
    return given


def run(code, names):
    """Runs the code and prints the value of its last expression, like a notebook."""
    tree = ast.parse(code, CODE)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, CODE, "exec"), names)
    value = eval(compile(last, CODE, "eval"), names) if last else None
    if value is not None:
        print(repr(value))


def report(error):
    """The traceback without the frames of this file and of what they call."""
    whole = traceback.TracebackException.from_exception(error)
    chain = [whole]
    for shown in chain:
        own = [frame for frame in shown.stack if frame.filename == CODE]
        called = list(shown.stack)[list(shown.stack).index(own[-1]) + 1:] if own else []
        ours = any(frame.filename == __file__ for frame in called)
        shown.stack = traceback.StackSummary.from_list(own if ours else own + called)
        chain += [before for before in (shown.__cause__, shown.__context__) if before is not None]
    sys.stderr.write("".join(whole.format()))


__file__ = call.__code__.co_filename
host = Host()
random.seed(host.seed)
linecache.cache[CODE] = (len(host.code), None, host.code.splitlines(True), CODE)
module = types.ModuleType("__main__")
module.__dict__.update(names_for_code())
sys.modules["__main__"] = module
try:
    run(host.code, module.__dict__)
except Exception as error:
    report(error)
    sys.exit(1)

"""The shared library, its functions and the conversion of their statuses. Everything else in the package goes through it."""

from __future__ import annotations

import ctypes
import ctypes.util
import glob
import json
import os
import pathlib
import weakref
from typing import Any, Callable

from .errors import HandleError, InputError, PraxisError, error_of

ABI_VERSION = 1
OK, TIMEOUT, END = 0, 9, 10
_NAME = "libpraxis_c.so"

ToolFunction = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p)
ReleaseFunction = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_HANDLE, _TEXT, _INT64 = ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int64
_OUT_HANDLE, _OUT_TEXT = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)

# The arguments of each function that returns a status.
_FUNCTIONS: dict[str, list[Any]] = {
    "close": [_HANDLE],
    "runtime_open": [_TEXT, _OUT_HANDLE],
    "runtime_stop": [_HANDLE, _INT64],
    "runtime_health": [_HANDLE, _OUT_TEXT],
    "agent_create": [_HANDLE, _TEXT, _OUT_HANDLE],
    "agent_open": [_HANDLE, _TEXT, _OUT_HANDLE],
    "agent_add_tool": [_HANDLE, _TEXT, ToolFunction, ctypes.c_void_p, ReleaseFunction],
    "agent_add_agent": [_HANDLE, _HANDLE, _TEXT, _TEXT],
    "agent_describe": [_HANDLE, _OUT_TEXT],
    "call_return": [_HANDLE, _TEXT],
    "call_fail": [_HANDLE, _TEXT, ctypes.c_int],
    "call_progress": [_HANDLE, _TEXT, ctypes.c_double],
    "call_describe": [_HANDLE, _OUT_TEXT],
    "agent_run": [_HANDLE, _TEXT, _TEXT, _OUT_HANDLE],
    "session_create": [_HANDLE, _TEXT, _OUT_HANDLE],
    "session_open": [_HANDLE, _TEXT, ctypes.c_int, _OUT_HANDLE],
    "session_send": [_HANDLE, _TEXT, _TEXT, _OUT_HANDLE],
    "session_resume": [_HANDLE, _TEXT, _OUT_HANDLE],
    "session_describe": [_HANDLE, _OUT_TEXT],
    "session_messages": [_HANDLE, _OUT_TEXT],
    "run_next": [_HANDLE, _INT64, _OUT_TEXT],
    "run_result": [_HANDLE, _INT64, _OUT_TEXT],
    "decide": [_HANDLE, _TEXT, _TEXT],
    "command": [_HANDLE, _TEXT, _TEXT, _TEXT],
    "runs": [_HANDLE, _TEXT, ctypes.c_uint32, _OUT_TEXT],
    "tree": [_HANDLE, _TEXT, _OUT_TEXT],
    "state": [_HANDLE, _TEXT, _OUT_TEXT],
    "fork": [_HANDLE, _TEXT, ctypes.c_uint64, _OUT_TEXT],
    "replay": [_HANDLE, _TEXT, _OUT_TEXT],
}


def _candidates() -> list[str]:
    """The files to try: PRAXIS_LIBRARY alone if it is set; else next to the package, above it, and by the linker."""
    named = os.environ.get("PRAXIS_LIBRARY")
    if named:
        return [named]
    found: list[str] = []
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here, *here.parents[:4]):
        for pattern in (_NAME, _NAME + ".*", "*-linux-gnu*/" + _NAME, "*-linux-gnu*/" + _NAME + ".*"):
            found += sorted(glob.glob(str(folder / pattern)))
    by_linker = ctypes.util.find_library("praxis_c")
    return found + ([by_linker] if by_linker else []) + [_NAME]


def _load() -> ctypes.CDLL:
    tried = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name)
            break
        except OSError as error:
            tried.append(f"{name}: {error}")
    else:
        raise ImportError(
            f"cannot load {_NAME}; set PRAXIS_LIBRARY to its path, or install Praxis. Tried:\n  " + "\n  ".join(tried)
        )
    library.praxis_abi_version.restype = ctypes.c_uint32
    found = library.praxis_abi_version()
    if found != ABI_VERSION:
        raise ImportError(f"this package needs version {ABI_VERSION} of the interface, and the library has {found}")
    library.praxis_version.restype = ctypes.c_char_p
    library.praxis_last_error.restype = ctypes.c_char_p
    library.praxis_free.argtypes = [ctypes.c_void_p]
    library.praxis_free.restype = None
    library.praxis_call_stopped.argtypes = [_HANDLE]
    for name, arguments in _FUNCTIONS.items():
        function = getattr(library, "praxis_" + name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    return library


_library = _load()


def version() -> str:
    """The version of the library."""
    return _library.praxis_version().decode()


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if "\0" in value:
        raise InputError("text must not contain a zero character")
    return value.encode()


def _raise() -> None:
    error = _library.praxis_last_error()
    raise error_of(json.loads(error)) if error else PraxisError("unknown error")


def call(name: str, *arguments: Any) -> int:
    """Calls a function; returns OK, TIMEOUT or END. Raises what any other status stands for."""
    status: int = getattr(_library, "praxis_" + name)(*map(_text, arguments))
    if status not in (OK, TIMEOUT, END):
        _raise()
    return status


def make(name: str, *arguments: Any) -> int:
    """Calls a function that gives a handle."""
    handle = ctypes.c_uint64()
    call(name, *arguments, ctypes.byref(handle))
    return handle.value


def value(name: str, *arguments: Any) -> Any:
    """Calls a function that gives JSON; None at the end and after the time limit."""
    return status_and_value(name, *arguments)[1]


def status_and_value(name: str, *arguments: Any) -> tuple[int, Any]:
    """The same with the status, which tells the end from the time limit."""
    out = ctypes.c_void_p()
    status = call(name, *arguments, ctypes.byref(out))
    if not out.value:
        return status, None
    try:
        return status, json.loads(ctypes.string_at(out.value))
    finally:
        _library.praxis_free(out)


def call_stopped(handle: int) -> bool:
    """Whether a tool call should return soon."""
    return bool(_library.praxis_call_stopped(handle))


def _close(handle: int) -> None:
    try:
        call("close", handle)
    except HandleError:
        pass  # closed with its runtime


class Handle:
    """An object of the library. Closes itself when it is dropped, at the end of ``with``, or when the program ends."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._finalizer: Callable[[], Any] = weakref.finalize(self, _close, handle)

    def close(self) -> None:
        """Closes the object; no-op if it is closed. Using it afterwards raises HandleError."""
        self._finalizer()

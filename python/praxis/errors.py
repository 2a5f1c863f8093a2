"""The exceptions of the package. Each one carries what the library says about the failure."""

from __future__ import annotations

from typing import Any


class PraxisError(Exception):
    """A failure. ``code`` and ``kind`` name it for programs; ``message`` is for people.

    ``result`` is the report of the turn if there was one that did not finish, else None.
    """

    code = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        kind: str | None = None,
        retriable: bool = False,
        detail: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.kind = kind
        self.retriable = retriable
        self.detail = detail or {}
        self.result: Any = None


class ModelError(PraxisError):
    """The model: network, authentication, status, malformed response."""

    code = "model"


class ToolError(PraxisError):
    """A tool failed, timed out, or does not exist. A tool raises it to fail its call; ``retriable`` lets it run again."""

    code = "tool"


class PolicyError(PraxisError):
    """A rule or an approver denied it."""

    code = "policy"


class LimitError(PraxisError):
    """A limit of the run was reached."""

    code = "limit"


class Cancelled(PraxisError):
    """The caller or a user cancelled it, or the runtime was closed."""

    code = "cancelled"


class JournalError(PraxisError):
    """The journal: unreadable, altered, full, owned by another process."""

    code = "journal"


class InputError(PraxisError, ValueError):
    """An argument is wrong."""

    code = "input"


class HandleError(PraxisError):
    """The object is closed."""

    code = "bad_handle"


_CLASSES: dict[str, type[PraxisError]] = {
    cls.code: cls
    for cls in (ModelError, ToolError, PolicyError, LimitError, Cancelled, JournalError, InputError, HandleError)
}


def error_of(error: dict[str, Any]) -> PraxisError:
    """Makes the exception for an error in JSON form."""
    code = str(error.get("code", "internal"))
    detail = error.get("detail") or {}
    return _CLASSES.get(code, PraxisError)(
        str(error.get("message", "unknown error")),
        code=code,
        kind=detail.get("kind"),
        retriable=bool(error.get("retriable", False)),
        detail=detail,
    )

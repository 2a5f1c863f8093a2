"""JSON Schemas from types, and Python values from JSON that follows them.

``Annotated[str, "City, e.g. Paris"]`` describes a value to the model. Supported are str, int, float, bool, None, Any, list,
tuple, set, dict with keys of type str, Literal, Optional and other unions, enums, dataclasses and typed dicts.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from typing import Any, Callable

from .errors import InputError

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(type_: Any) -> dict[str, Any]:
    """The JSON Schema of a type. Raises InputError for a type that has none."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (typing.Required, typing.NotRequired):
        return schema_of(arguments[0])
    if origin is typing.Annotated:
        schema = schema_of(arguments[0])
        words = [word for word in arguments[1:] if isinstance(word, str)]
        return {**schema, "description": " ".join(words)} if words else schema
    if type_ is Any or type_ is inspect.Parameter.empty or type_ is object:
        return {}
    if type_ in _SIMPLE:
        return {"type": _SIMPLE[type_]}
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in arguments]}
    if origin in (list, set, frozenset) or type_ in (list, set, frozenset):
        schema = {"type": "array"}
        if arguments:
            schema["items"] = schema_of(arguments[0])
        if (origin or type_) is not list:
            schema["uniqueItems"] = True
        return schema
    if origin is tuple or type_ is tuple:
        return _tuple_schema(arguments)
    if origin is dict or type_ is dict:
        schema = {"type": "object"}
        if arguments:
            if arguments[0] is not str:
                raise InputError(f"the keys of {type_} must be of type str")
            schema["additionalProperties"] = schema_of(arguments[1])
        return schema
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        return {"enum": [member.value for member in type_]}
    if dataclasses.is_dataclass(type_) or typing.is_typeddict(type_):
        return _members_schema(type_)
    raise InputError(f"{type_!r} has no JSON Schema; use simple types, lists, dicts, enums or dataclasses")


def _tuple_schema(arguments: tuple[Any, ...]) -> dict[str, Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": schema_of(arguments[0])}
    if not arguments:
        return {"type": "array"}
    count = len(arguments)
    items = [schema_of(one) for one in arguments]
    return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}


def _hints(type_: Any) -> dict[str, Any]:
    return typing.get_type_hints(type_, include_extras=True)


def _members_schema(type_: Any) -> dict[str, Any]:
    hints = _hints(type_)
    if dataclasses.is_dataclass(type_):
        none = dataclasses.MISSING
        required = [
            field.name for field in dataclasses.fields(type_) if field.default is none and field.default_factory is none
        ]
    else:
        required = sorted(type_.__required_keys__)
    properties = {name: schema_of(hint) for name, hint in hints.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schema_of_parameters(function: Callable[..., Any], skip: set[str]) -> dict[str, Any]:
    """The JSON Schema of the arguments of a function, without those named in ``skip``."""
    hints = typing.get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in skip:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InputError(f"{function.__name__}: the parameter {parameter} cannot be given by name")
        properties[name] = schema_of(hints.get(name, Any))
        if parameter.default is parameter.empty:
            required.append(name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def value_of(type_: Any, json: Any) -> Any:
    """The Python value of JSON that follows the schema of the type: dataclasses, enums and sets are made."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return value_of(arguments[0], json)
    if origin in (typing.Union, types.UnionType):
        return _union_value(arguments, json)
    if type_ is float and isinstance(json, int) and not isinstance(json, bool):
        return float(json)
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        return type_(json)
    if isinstance(json, list):
        return _list_value(type_, origin, arguments, json)
    if isinstance(json, dict):
        if dataclasses.is_dataclass(type_) or typing.is_typeddict(type_):
            hints = _hints(type_)
            return type_(**{name: value_of(hints.get(name, Any), member) for name, member in json.items()})
        if origin is dict and arguments:
            return {name: value_of(arguments[1], member) for name, member in json.items()}
    return json


def _list_value(type_: Any, origin: Any, arguments: tuple[Any, ...], json: list[Any]) -> Any:
    kind = origin or type_
    if kind is tuple:
        every = len(arguments) == 2 and arguments[1] is Ellipsis
        hints = [arguments[0]] * len(json) if every else list(arguments) or [Any] * len(json)
        return tuple(value_of(hint, element) for hint, element in zip(hints, json))
    hint = arguments[0] if arguments else Any
    values = [value_of(hint, element) for element in json]
    return kind(values) if kind in (set, frozenset) else values


def _union_value(arguments: tuple[Any, ...], json: Any) -> Any:
    """The value of the first type that accepts it."""
    if json is None:
        return None
    for one in arguments:
        plain = typing.get_args(one)[0] if typing.get_origin(one) is typing.Annotated else one
        if plain in _SIMPLE:
            if type(json) is plain or (plain is float and type(json) is int):
                return value_of(plain, json)
            continue
        try:
            return value_of(plain, json)
        except (TypeError, ValueError):
            continue
    return json


def json_of(value: Any) -> Any:
    """The value with dataclasses, enums, sets and tuples as what ``json`` can write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: json_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return json_of(value.value)
    if isinstance(value, dict):
        return {str(name): json_of(member) for name, member in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_of(element) for element in value]
    return value

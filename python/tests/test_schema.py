"""Types as JSON Schemas, and JSON as values of types."""

import dataclasses
import enum
import typing
import unittest
from typing import Annotated, Any, Literal, Optional

from praxis import InputError, tool
from praxis.schema import json_of, schema_of, value_of


class Unit(enum.Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


@dataclasses.dataclass
class Place:
    name: Annotated[str, "A city"]
    unit: Unit = Unit.CELSIUS
    tags: list[str] = dataclasses.field(default_factory=list)


class Trip(typing.TypedDict, total=False):
    places: typing.Required[list[Place]]
    days: int


TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
PLACE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "A city"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": TEXT},
    },
    "required": ["name"],
    "additionalProperties": False,
}

# A type, its schema, JSON that follows it, and the value of that JSON.
CASES = [
    (str, TEXT, "a", "a"),
    (int, INTEGER, 3, 3),
    (float, {"type": "number"}, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (Any, {}, {"a": 1}, {"a": 1}),
    (list, {"type": "array"}, [1, "a"], [1, "a"]),
    (list[int], {"type": "array", "items": INTEGER}, [1, 2], [1, 2]),
    (set[str], {"type": "array", "items": TEXT, "uniqueItems": True}, ["a"], {"a"}),
    (tuple[int, ...], {"type": "array", "items": INTEGER}, [1, 2], (1, 2)),
    (
        tuple[str, float],
        {"type": "array", "prefixItems": [TEXT, {"type": "number"}], "minItems": 2, "maxItems": 2},
        ["a", 1],
        ("a", 1.0),
    ),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (dict[str, Unit], {"type": "object", "additionalProperties": {"enum": ["celsius", "fahrenheit"]}},
     {"a": "celsius"}, {"a": Unit.CELSIUS}),
    (Literal["a", 1], {"enum": ["a", 1]}, "a", "a"),
    (Optional[int], {"anyOf": [INTEGER, {"type": "null"}]}, None, None),
    (int | str, {"anyOf": [INTEGER, TEXT]}, "a", "a"),
    (float | None, {"anyOf": [{"type": "number"}, {"type": "null"}]}, 2, 2.0),
    (Place | int, {"anyOf": [PLACE, INTEGER]}, 4, 4),
    (Place, PLACE, {"name": "Paris", "unit": "fahrenheit"}, Place("Paris", Unit.FAHRENHEIT)),
    (
        Trip,
        {
            "type": "object",
            "properties": {"places": {"type": "array", "items": PLACE}, "days": INTEGER},
            "required": ["places"],
            "additionalProperties": False,
        },
        {"places": [{"name": "Rome", "tags": ["a"]}]},
        {"places": [Place("Rome", Unit.CELSIUS, ["a"])]},
    ),
]


class Schemas(unittest.TestCase):
    def test_each_type_has_its_schema(self):
        for type_, schema, _, _ in CASES:
            with self.subTest(type_):
                self.assertEqual(schema_of(type_), schema)

    def test_json_becomes_a_value_of_the_type(self):
        for type_, _, json, value in CASES:
            with self.subTest(type_):
                found = value_of(type_, json)
                self.assertEqual(found, value)
                self.assertIs(type(found), type(value))

    def test_values_become_json(self):
        self.assertEqual(
            json_of({"a": Place("x"), 1: (Unit.CELSIUS, None)}),
            {"a": {"name": "x", "unit": "celsius", "tags": []}, "1": ["celsius", None]},
        )
        self.assertEqual(json_of(frozenset({1})), [1])

    def test_types_without_a_schema_are_refused(self):
        for type_ in (object(), bytes, dict[int, str], typing.Callable):
            with self.subTest(type_), self.assertRaises(InputError):
                schema_of(type_)

    def test_parameters_are_the_schema_of_a_tool(self):
        @tool
        def look(city: Annotated[str, "City"], days: int = 1, *, rest=None):
            """Looks."""

        self.assertEqual(
            look.definition,
            {
                "name": "look",
                "description": "Looks.",
                "parameters": {
                    "type": "object",
                    "properties": {"city": {"type": "string", "description": "City"}, "days": INTEGER, "rest": {}},
                    "required": ["city"],
                    "additionalProperties": False,
                },
            },
        )
        self.assertEqual(tool(name="other", description="d", timeout="5s")(lambda: 1).definition["timeout"], "5s")

    def test_parameters_without_names_are_refused(self):
        for function in (lambda *a: 1, lambda **a: 1, lambda a, /: 1):
            with self.assertRaises(InputError):
                tool(function)


if __name__ == "__main__":
    unittest.main()

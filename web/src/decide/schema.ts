// Checks values against a JSON Schema. The library makes no code from the schema, which the page's policy forbids.
import { Validator } from "@cfworker/json-schema";

export interface Problem {
  /** Names of members and numbers of entries, such as `options/0`; empty: the value itself. */
  at: string;
  message: string;
}

const compiled = new WeakMap<object, Validator>();

/** Throws if the schema cannot be used. */
function validatorOf(schema: object): Validator {
  const validator = compiled.get(schema) ?? new Validator(schema, "2020-12", false);
  compiled.set(schema, validator);
  return validator;
}

const wrapping = new Set(["properties", "items", "prefixItems", "allOf", "$ref", "$dynamicRef", "additionalProperties", "patternProperties"]);

/** What is wrong with a value; empty if nothing is, or if the schema cannot be used. */
export function problems(schema: unknown, value: unknown): Problem[] {
  if (schema === null || typeof schema !== "object" || value === undefined) return [];
  try {
    const { errors } = validatorOf(schema).validate(value);
    const own = errors.filter((each) => !wrapping.has(each.keyword) || (each.keyword === "additionalProperties" && !errors.some((other) => other !== each && other.instanceLocation.startsWith(each.instanceLocation + "/"))));
    return (own.length > 0 ? own : errors).slice(0, 8).map((each) => ({ at: each.instanceLocation.replace(/^#\/?/, ""), message: each.error }));
  } catch {
    return []; // the server decides
  }
}

// A form from a JSON Schema: its fields, and the value that was filled in.

type Schema = Record<string, unknown>;

export type FieldKind = "text" | "number" | "yes_no" | "choice" | "choices" | "json";

export interface FormField {
  name: string;
  label: string;
  help: string;
  kind: FieldKind;
  isRequired: boolean;
  /** Of `choice` and `choices`: values and how they are called. */
  options: { value: unknown; label: string }[];
  /** Of `number`. */
  isWhole: boolean;
  initial: unknown;
}

const isSchema = (value: unknown): value is Schema => value !== null && typeof value === "object" && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The values of `enum`, or of `oneOf` and `anyOf` whose members each have a `const`. */
function optionsOf(schema: Schema): FormField["options"] | undefined {
  const label = (value: unknown, at: number) => {
    const names = schema.enumNames;
    return Array.isArray(names) && typeof names[at] === "string" ? (names[at] as string) : typeof value === "string" ? value : JSON.stringify(value);
  };
  if (Array.isArray(schema.enum)) return schema.enum.map((value, at) => ({ value, label: label(value, at) }));
  const list = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(list) || !list.every((each) => isSchema(each) && "const" in each)) return undefined;
  return list.map((each: Schema) => ({ value: each.const, label: text(each.title) || (typeof each.const === "string" ? each.const : JSON.stringify(each.const)) }));
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): FormField {
  const field: FormField = {
    name, isRequired, label: text(schema.title) || name, help: text(schema.description), kind: "json", options: [], isWhole: schema.type === "integer",
    initial: schema.default,
  };
  const options = optionsOf(schema);
  const each = isSchema(schema.items) ? optionsOf(schema.items) : undefined;
  if (options !== undefined) return { ...field, kind: "choice", options };
  if (schema.type === "array" && each !== undefined) return { ...field, kind: "choices", options: each, initial: schema.default ?? [] };
  if (schema.type === "boolean") return { ...field, kind: "yes_no", initial: schema.default ?? false };
  if (schema.type === "string") return { ...field, kind: "text" };
  if (schema.type === "number" || schema.type === "integer") return { ...field, kind: "number" };
  return field;
}

/** The name of the only field of a schema that is not an object. */
export const whole = "";

/** The fields of a schema; undefined if a form cannot ask for it, so that JSON has to be written. */
export function fieldsOf(schema: unknown): FormField[] | undefined {
  if (!isSchema(schema)) return undefined;
  if (isSchema(schema.properties)) {
    const required = Array.isArray(schema.required) ? schema.required : [];
    return Object.entries(schema.properties).map(([name, each]) => fieldOf(name, isSchema(each) ? each : {}, required.includes(name)));
  }
  const field = fieldOf(whole, schema, true);
  return field.kind === "json" ? undefined : [{ ...field, label: text(schema.title) || "Your answer" }];
}

/** What was filled in, as the value that is sent. Fields that are empty and need not be filled are left out. */
export function valueOf(fields: readonly FormField[], filled: Readonly<Record<string, unknown>>): unknown {
  const members: [string, unknown][] = [];
  for (const field of fields) {
    const given = field.name in filled ? filled[field.name] : field.initial;
    let value = given;
    if (field.kind === "number" && typeof given === "string") value = given.trim() === "" ? undefined : Number(given);
    if (field.kind === "json" && typeof given === "string") {
      try {
        value = given.trim() === "" ? undefined : JSON.parse(given);
      } catch {
        value = given;
      }
    }
    const isEmpty = value === undefined || (value === "" && !field.isRequired);
    if (!isEmpty) members.push([field.name, value]);
  }
  if (fields.length === 1 && fields[0]?.name === whole) return members[0]?.[1];
  return Object.fromEntries(members);
}

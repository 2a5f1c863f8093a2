// A form from the schema of a question; what is wrong is said while it is filled in.
import type { Signal } from "@preact/signals";
import { fieldsOf, type FormField, valueOf } from "../model/form.ts";
import { problems } from "./schema.ts";

export interface Filled {
  /** By the name of the field. */
  values: Signal<Record<string, unknown>>;
  /** Fields that were left once: only what is wrong with them is shown. */
  left: Signal<ReadonlySet<string>>;
}

interface FieldProps {
  field: FormField;
  id: string;
  value: unknown;
  problem: string | undefined;
  change: (value: unknown) => void;
  leave: () => void;
}

function Input({ field, id, value, problem, change, leave }: FieldProps) {
  const common = { id, "aria-invalid": problem !== undefined, "aria-describedby": `${id} about`, onBlur: leave };
  switch (field.kind) {
    case "choice": {
      const at = field.options.findIndex((each) => each.value === value);
      return (
        <select {...common} value={String(at)} onChange={(event) => change(field.options[Number(event.currentTarget.value)]?.value)}>
          <option value="-1">{field.isRequired ? "Choose…" : "–"}</option>
          {field.options.map((each, number) => <option key={number} value={String(number)}>{each.label}</option>)}
        </select>
      );
    }
    case "choices": {
      const chosen = Array.isArray(value) ? value : [];
      return (
        <div role="group" aria-label={field.label} class="choices">
          {field.options.map((each, number) => (
            <label key={number}>
              <input
                type="checkbox" checked={chosen.includes(each.value)} onBlur={leave}
                onChange={(event) => change(event.currentTarget.checked ? [...chosen, each.value] : chosen.filter((other) => other !== each.value))}
              />
              {each.label}
            </label>
          ))}
        </div>
      );
    }
    case "yes_no":
      return <input {...common} type="checkbox" checked={value === true} onChange={(event) => change(event.currentTarget.checked)} />;
    case "number":
      return <input {...common} type="number" step={field.isWhole ? 1 : "any"} value={String(value ?? "")} onInput={(event) => change(event.currentTarget.value)} />;
    case "text":
      return <input {...common} type="text" dir="auto" value={String(value ?? "")} onInput={(event) => change(event.currentTarget.value)} />;
    default:
      return (
        <textarea
          {...common} class="mono" rows={3} spellcheck={false} value={typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2)}
          onInput={(event) => change(event.currentTarget.value)}
        />
      );
  }
}

/** The value of the form, and what is wrong with it. */
export function answerOf(schema: unknown, values: Record<string, unknown>): { value: unknown; wrong: { at: string; message: string }[] } {
  const fields = fieldsOf(schema) ?? [];
  const value = valueOf(fields, values);
  const missing = fields.filter((field) => field.isRequired && field.kind === "text" && value !== null && typeof value === "object" && !(field.name in value));
  return { value, wrong: [...missing.map((field) => ({ at: field.name, message: "must be filled in" })), ...problems(schema, value)] };
}

export function SchemaForm({ id, schema, filled }: { id: string; schema: unknown; filled: Filled }) {
  const fields = fieldsOf(schema) ?? [];
  const values = filled.values.value;
  const { wrong } = answerOf(schema, values);
  return (
    <div class="fields">
      {fields.map((field) => {
        const name = `${id} ${field.name}`;
        const found = wrong.find((each) => each.at === field.name || each.at.startsWith(field.name + "/") || (each.at === "" && each.message.includes(`"${field.name}"`)));
        const problem = filled.left.value.has(field.name) ? found?.message : undefined;
        const leave = () => (filled.left.value = new Set([...filled.left.value, field.name]));
        return (
          <div key={field.name} class={`field ${field.kind}`}>
            <label for={field.kind === "choices" ? undefined : name} dir="auto">{field.label}{field.isRequired ? "" : <span class="quiet"> (need not be filled in)</span>}</label>
            <Input
              field={field} id={name} value={field.name in values ? values[field.name] : field.initial} problem={problem} leave={leave}
              change={(value) => {
                filled.values.value = { ...filled.values.value, [field.name]: value };
                leave();
              }}
            />
            <span id={`${name} about`} class={problem === undefined ? "quiet" : "failed"} aria-live="polite" dir="auto">{problem ?? field.help}</span>
          </div>
        );
      })}
    </div>
  );
}

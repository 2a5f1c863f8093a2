// What of a record can be said differently in a branch.
import type { StoredRecord } from "../api/types.ts";

export interface Editable {
  /** `message` begins a turn, so its branch begins before that turn; `instructions` are those of a call of the model. */
  what: "message" | "answer" | "arguments" | "result" | "instructions";
  label: string;
  text: string;
  isJson: boolean;
  /** Of `arguments`: the call. */
  call?: string;
}

type Body = Record<string, unknown>;
interface StoredPart {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  arguments?: unknown;
}

const textOf = (parts: StoredPart[]): string => parts.filter((part) => part.type === "text").map((part) => part.text ?? "").join("");

/** Whether a record is a request to the model for an answer, not for a summary or for a plan. */
export function asksForAnswer(record: StoredRecord): boolean {
  const body = (record.body ?? {}) as Body;
  return record.kind === "effect_intended" && (body.kind ?? "model") === "model" && body.summary === undefined && body.consult === undefined;
}

/**
 * The parts that can be edited; `intent` is the record of the intent that a settled effect belongs to,
 * `instructions` those with which the model is asked, if they are known.
 */
export function editablesOf(record: StoredRecord, intent?: StoredRecord, instructions?: string): Editable[] {
  const body = (record.body ?? {}) as Body;
  if (asksForAnswer(record)) {
    return instructions === undefined ? [] : [{ what: "instructions", label: "The instructions", text: instructions, isJson: false }];
  }
  if (record.kind === "message_appended") {
    const message = body.message as { role?: string; content?: StoredPart[] } | undefined;
    if (body.source !== "user" || !message?.content?.some((part) => part.type === "text")) return [];
    return [{ what: "message", label: "The message", text: textOf(message.content), isJson: false }];
  }
  if (record.kind !== "effect_settled") return [];
  const response = body.response as { content?: StoredPart[] } | undefined;
  if (response !== undefined) {
    const parts = response.content ?? [];
    const calls = parts.filter((part) => part.type === "tool_call");
    const said = textOf(parts);
    const all: Editable[] = said === "" && calls.length > 0 ? [] : [{ what: "answer", label: "The answer", text: said, isJson: false }];
    for (const call of calls) {
      const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
      all.push({ what: "arguments", label: `The arguments of ${call.name}`, text, isJson: true, call: call.id });
    }
    return all;
  }
  if ((intent?.body as Body | undefined)?.kind !== "tool") return [];
  const result = body.result as { text?: string } | undefined;
  return [{ what: "result", label: "The result of the tool", text: result?.text ?? "", isJson: false }];
}

/** The body of the request that makes the branch. `turnStart` is the record before the turn of a message. */
export function forkBody(record: StoredRecord, what: Editable, text: string, model: string, turnStart: number): Record<string, unknown> {
  const by = model === "" ? {} : { model };
  if (what.what === "message") return { seq: turnStart, prompt: text, ...by };
  if (what.what === "instructions") return { seq: record.seq - 1, instructions: text, continue: true, ...by };
  const edit = what.what === "arguments" ? { call: what.call, arguments: JSON.parse(text) as object } : { text };
  return { seq: record.seq, edit, continue: true, ...by };
}

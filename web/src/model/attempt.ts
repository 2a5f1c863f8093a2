// A call of a model that is sent again in another version: what of it can change, and what came back.
import type { StoredRecord, Usage } from "../api/types.ts";
import { editablesOf } from "./edits.ts";

/** What the model got last before the call, where a branch may say something else. */
export interface Input {
  label: string;
  text: string;
}

/** The call: the number of its record, its instructions and input as far as they are known. */
export interface Call {
  seq: number;
  instructions: string | undefined;
  input: Input | undefined;
}

/** What a person made of the call. Empty model and limit: as it was. */
export interface Version {
  instructions: string;
  input: string;
  model: string;
  usd: string;
}

/** What came back. */
export interface Attempt {
  text: string;
  calls: { tool: string; args: unknown }[];
  error: string;
  model: string;
  tokens: number;
  cost: number | undefined;
  ms: number;
}

type Body = Record<string, unknown>;
interface Part {
  type: string;
  text?: string;
  name?: string;
  arguments?: unknown;
}

/** The input by the record before the call. The result of a tool is one that settles an effect without an answer. */
export function inputOf(before: StoredRecord | undefined): Input | undefined {
  if (before === undefined) return undefined;
  const tool = { ...before, kind: "effect_intended", body: { kind: "tool" } };
  const found = editablesOf(before, tool)[0];
  if (found?.what === "message") return { label: "Message", text: found.text };
  return found?.what === "result" && (before.body as Body).result !== undefined ? { label: "Result of the tool", text: found.text } : undefined;
}

/** The body of the request that sends a version. */
export function attemptBody(of: Call, version: Version): Record<string, unknown> {
  const body: Record<string, unknown> = { seq: of.seq - 1, continue: true, once: true };
  if (of.instructions !== undefined && version.instructions !== of.instructions) body.instructions = version.instructions;
  if (of.input !== undefined && version.input !== of.input.text) body.edit = { text: version.input };
  if (version.model.trim() !== "") body.model = version.model.trim();
  if (Number(version.usd) > 0) body.limits = { max_usd: Number(version.usd) };
  return body;
}

/** The outcome in a record that settles the call; `request` is that of its intent. */
export function attemptOf(settled: StoredRecord, request: StoredRecord | undefined): Attempt {
  const body = (settled.body ?? {}) as Body;
  const response = (body.response ?? {}) as { content?: Part[]; usage?: Usage; model?: string };
  const error = (body.error ?? {}) as { message?: string };
  const content = response.content ?? [];
  return {
    text: content.filter((part) => part.type === "text").map((part) => part.text ?? "").join(""),
    calls: content.filter((part) => part.type === "tool_call").map((part) => ({ tool: part.name ?? "", args: part.arguments })),
    error: error.message ?? "",
    model: response.model ?? "",
    tokens: response.usage?.total ?? 0,
    cost: response.usage?.cost_usd,
    ms: request === undefined ? 0 : settled.time - request.time,
  };
}

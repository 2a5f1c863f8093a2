// What a record means, as facts that a reader looks for: tokens, price, time, what a request had that was new.
import type { StoredRecord, Usage } from "../api/types.ts";
import type { Agent, Item } from "./run_state.ts";
import { cost, duration, tokens } from "./words.ts";

export type Fact = [name: string, value: string];

type Body = Record<string, unknown>;
const bodyOf = (record: StoredRecord): Body => (record.body !== null && typeof record.body === "object" ? (record.body as Body) : {});
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function usageFacts(usage: Usage & { cache_write?: number; estimated?: boolean }): Fact[] {
  const facts: Fact[] = [["Input", tokens(usage.input ?? 0) + " tokens" + (usage.estimated ? " (estimated)" : "")]];
  if (usage.cache_read) facts.push(["From cache", `${tokens(usage.cache_read)} tokens, ${Math.round((100 * usage.cache_read) / Math.max(1, usage.input ?? 0))} %`]);
  facts.push(["Output", tokens(usage.output ?? 0) + " tokens"]);
  if (usage.reasoning) facts.push(["Reasoning", tokens(usage.reasoning) + " tokens"]);
  facts.push(["Price", usage.cost_usd === undefined ? "unknown" : cost(usage.cost_usd)]);
  return facts;
}

/** The facts of a record; `before` is that of the intent which it settles, if there is one. */
export function factsOf(record: StoredRecord, before?: StoredRecord): Fact[] {
  const body = bodyOf(record);
  const facts: Fact[] = [];
  const took = body.duration_ms ?? (before === undefined ? undefined : record.time - before.time);
  switch (record.kind) {
    case "effect_intended":
      if (body.kind === "tool") facts.push(["Tool", text(body.name)], ["Call", text(body.call)]);
      if (Number(body.attempt ?? 1) > 1) facts.push(["Attempt", String(body.attempt)]);
      break;
    case "effect_settled": {
      const response = body.response as { usage?: Usage; model?: string; finish?: string } | undefined;
      if (body.outcome !== undefined) facts.push(["Outcome", text(body.outcome)]);
      if (response !== undefined) facts.push(["Model", text(response.model)], ["Finish", text(response.finish)], ...usageFacts(response.usage ?? { total: 0 }));
      if (typeof took === "number") facts.push(["Took", duration(took)]);
      if (text(body.by) !== "") facts.push(["Answered by", text(body.by)]);
      break;
    }
    case "decided":
      facts.push(["Decision", text(body.verb)], ["By", text((body.author as Body | undefined)?.principal) || text(body.by) || "a rule"]);
      if (text(body.text) !== "") facts.push(["Text", text(body.text)]);
      break;
    case "turn_settled":
      facts.push(["Reason", text(body.reason)]);
      break;
  }
  return facts.filter(([, value]) => value !== "");
}

/** The number of the record that says what a settled effect was meant to do, before `record`; 0: unknown. */
export function intentOf(record: StoredRecord, around: (seq: number) => StoredRecord | undefined): StoredRecord | undefined {
  if (record.kind !== "effect_settled") return undefined;
  for (let seq = record.seq - 1; seq > 0 && seq > record.seq - 25; seq--) {
    const each = around(seq);
    if (each?.kind === "effect_intended" && bodyOf(each).effect === bodyOf(record).effect) return each;
  }
  return undefined;
}

export interface RequestView {
  /** Parts of the conversation that the model had seen before. */
  known: number;
  /** What is new since its last request. */
  fresh: Item[];
  /** What else changed since then. */
  changed: string[];
}

/** What a request to the model had, by the conversation of its agent; undefined for other records. */
export function requestOf(record: StoredRecord, agent: Agent): RequestView | undefined {
  const body = bodyOf(record);
  if (record.kind !== "effect_intended" || (body.kind ?? "model") !== "model") return undefined;
  const last = agent.requests.findLast((seq) => seq < record.seq) ?? 0;
  const said = agent.items.filter((item) => item.kind !== "note" && item.seq < record.seq);
  const settledAt = (item: Item) => (item.kind === "call" ? (item.settled ?? item.seq) : item.seq);
  const fresh = said.filter((item) => settledAt(item) > last);
  const changed: string[] = [];
  if (last > 0 && body.settings !== undefined) changed.push("instructions, model or options");
  if (last > 0 && body.tools !== undefined) changed.push("tools");
  return { known: said.length - fresh.length, fresh, changed };
}

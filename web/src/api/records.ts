// Records as they are stored. They never change, so those that were read once are kept.
import { call } from "./client.ts";
import type { StoredRecord } from "./types.ts";

const pageSize = 50;
const mostKept = 2000;
const kept = new Map<string, StoredRecord>();

const keyOf = (session: string, seq: number) => `${session} ${seq}`;

/** A record of a session, read with those around it; undefined if there is none. */
export async function recordOf(session: string, seq: number): Promise<StoredRecord | undefined> {
  const found = kept.get(keyOf(session, seq));
  if (found !== undefined || seq < 1) return found;
  const from = Math.max(1, seq - pageSize / 2);
  const { records } = await call("GET /api/v1/runs/{id}/records", { path: { id: session }, query: { from, limit: pageSize } });
  for (const record of records) kept.set(keyOf(session, record.seq), record);
  for (const key of kept.keys()) {
    if (kept.size <= mostKept) break;
    kept.delete(key);
  }
  return kept.get(keyOf(session, seq));
}

/** How far back a change of the agent is looked for, in records. */
const mostLooked = 1000;

/** The instructions that count at a record of a session; undefined if they are not known, or too long for a record. */
export async function instructionsAt(session: string, seq: number): Promise<string | undefined> {
  const of = (record: StoredRecord | undefined) => (record?.body as { agent?: { instructions?: unknown } } | undefined)?.agent;
  let agent = of(undefined);
  for (let at = seq; at > Math.max(1, seq - mostLooked) && agent === undefined; at--) {
    const record = await recordOf(session, at);
    if (record?.kind === "intervened") agent = of(record);
  }
  agent ??= of(await recordOf(session, 1));
  if (agent === undefined) return undefined;
  const { instructions = "" } = agent;
  return typeof instructions === "string" ? instructions : undefined;
}

/** The record that settles the effect which a record intends, if it is among the next ones. */
export async function settledAfter(session: string, seq: number): Promise<StoredRecord | undefined> {
  const effectOf = (record: StoredRecord | undefined) => (record?.body as { effect?: unknown } | undefined)?.effect;
  const wanted = effectOf(await recordOf(session, seq));
  for (let at = seq + 1; at <= seq + pageSize; at++) {
    const record = await recordOf(session, at);
    if (record === undefined) return undefined;
    if (record.kind === "effect_settled" && effectOf(record) === wanted) return record;
  }
  return undefined;
}

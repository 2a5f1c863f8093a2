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

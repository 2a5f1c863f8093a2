// What the server answers, as far as the page reads it. Requests are in routes.ts.

export interface Usage {
  total: number;
  input?: number;
  output?: number;
  cache_read?: number;
  reasoning?: number;
  cost_usd?: number;
}

export interface RunRow {
  id: string;
  agent: string;
  model: string;
  status: string;
  title: string;
  created_at: string;
  updated_at: string;
  records: number;
  tokens: number;
  cost_usd: number | null;
}

export interface RunPage {
  runs: RunRow[];
  next: string | null;
}

export interface Failure {
  code: string;
  message: string;
}

/** A run with the result of its last turn. */
export interface RunResult {
  run_id: string;
  agent: string;
  status: string;
  termination: string | null;
  result: string | null;
  errors: Failure[];
  resumable: boolean;
  held: boolean;
  records: number;
}

/** A step that waits for people. */
export interface ParkedStep {
  id: string;
  kind: string;
  prompt: string;
  call?: string;
  tool?: string;
  arguments?: unknown;
  allowed?: string[];
  session?: string;
  path?: string;
}

/** A step in the inbox. */
export interface PendingStep extends ParkedStep {
  run: string;
  session: string;
  agent: string;
  path: string;
}

export interface UsageRow {
  day: string;
  agent: string;
  model: string;
  calls: number;
  usage: Usage;
  cost_usd: number | null;
}

export interface UsageReport {
  from: string;
  until: string;
  complete: boolean;
  rows: UsageRow[];
}

/** A record of a session's log, as it is stored. */
export interface StoredRecord {
  seq: number;
  kind: string;
  time: number;
  body: unknown;
}

export type Part =
  | { type: "text" | "reasoning" | "refusal"; text: string }
  | { type: "image" | "file"; media_type?: string; name?: string; blob?: string }
  | { type: string; [key: string]: unknown };

/** An event of a run: docs/events.md. Members beside the position depend on its name. */
export interface RunEvent {
  event: string;
  session: string;
  parent?: string;
  depth: number;
  seq: number;
  turn?: string;
  step: number;
  time: string;
  /** Place of its record in the journal; missing for pieces of answers. */
  id?: string;
  [key: string]: unknown;
}

/** The answers of the requests that the page makes. */
export interface Answers {
  "POST /api/v1/login": { token: string };
  "GET /api/v1/agents": { agents: { name: string }[] };
  "GET /api/v1/runs": RunPage;
  "POST /api/v1/runs": { id: string; created: boolean };
  "GET /api/v1/runs/{id}": RunResult;
  "POST /api/v1/runs/{id}/messages": { id: string };
  "POST /api/v1/runs/{id}/commands": { id: string };
  "POST /api/v1/runs/{id}/resume": { id: string };
  "POST /api/v1/runs/{id}/fork": { id: string; created: boolean };
  "POST /api/v1/runs/{id}/steps/{step}": { id: string };
  "GET /api/v1/pending": { pending: PendingStep[] };
  "GET /api/v1/usage": UsageReport;
}

// What the server sends. Requests and their answers are in routes.ts, which is made from its description; here is
// what is in streams.
import type { ParkedStep } from "./routes.ts";

export type * from "./routes.ts";

/** A step as an event or the inbox has it; an event of a session does not repeat where it belongs. */
export type WaitingStep = ParkedStep & { run?: string; agent?: string };

export type Part =
  | { type: "text" | "reasoning" | "refusal"; text: string }
  | { type: "image" | "file"; mime?: string; name?: string; data?: string; url?: string }
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

// The end of a run, asked for before the code that shows it is there: both take a while, and none needs the other.
import { call } from "./client.ts";
import type { Answers } from "./routes.ts";

type Answer = Answers["GET /api/v1/runs/{id}/history"];

/** Records of which the events are loaded at first. */
const atFirst = 200;
let begun: { run: string; answer: Promise<Answer> } | null = null;

const ask = (run: string): Promise<Answer> => call("GET /api/v1/runs/{id}/history", { path: { id: run }, query: { limit: atFirst } });

/** Asks for the last events of a run. */
export function beginHistory(run: string): void {
  begun = { run, answer: ask(run) };
  begun.answer.catch(() => undefined); // who takes it sees the refusal
}

/** The last events of a run: once those that were asked for before. Throws a Refusal. */
export function lastEvents(run: string): Promise<Answer> {
  const early = begun?.run === run ? begun.answer : undefined;
  begun = null;
  return early ?? ask(run);
}

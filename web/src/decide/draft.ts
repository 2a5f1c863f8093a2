// What a person has begun to decide. It stays while lists are read again.
import { signal, type Signal } from "@preact/signals";
import { call } from "../api/client.ts";
import type { StepToDecide, WaitingStep } from "../api/types.ts";
import { pending, readPending } from "../live.ts";

export type Mode = "" | "deny" | "edit" | "answer" | "always";

export interface Draft {
  mode: Signal<Mode>;
  /** What is typed in each mode; missing: nothing yet. */
  texts: Signal<Partial<Record<Mode, string>>>;
  /** The fields of a form. */
  values: Signal<Record<string, unknown>>;
  left: Signal<ReadonlySet<string>>;
  error: Signal<string>;
  isBusy: Signal<boolean>;
  /** What the server says about the step; null until it has. */
  details: Signal<StepToDecide | null>;
}

const drafts = new Map<string, Draft>();

/** `session/p1` in two. An event has the session apart. */
export function namesOf(step: WaitingStep): { id: string; step: string } {
  const slash = step.id.lastIndexOf("/");
  return slash < 0 ? { id: step.session ?? "", step: step.id } : { id: step.id.slice(0, slash), step: step.id.slice(slash + 1) };
}

const keyOf = (step: WaitingStep): string => {
  const names = namesOf(step);
  return `${names.id}/${names.step}`;
};

export function draftOf(step: WaitingStep): Draft {
  const key = keyOf(step);
  let draft = drafts.get(key);
  if (draft === undefined) {
    const answers = step.allowed.includes("answer") && !step.allowed.includes("allow");
    draft = {
      mode: signal<Mode>(answers ? "answer" : ""), texts: signal({}), values: signal({}), left: signal<ReadonlySet<string>>(new Set()), error: signal(""),
      isBusy: signal(false), details: signal<StepToDecide | null>(null),
    };
    drafts.set(key, draft);
  }
  return draft;
}
export const modeOf = (step: WaitingStep): Signal<Mode> => draftOf(step).mode;

/** Reads what deciding the step takes, once. */
export async function readDetails(step: WaitingStep): Promise<void> {
  const draft = draftOf(step);
  if (draft.details.value !== null) return;
  // Without it the step can be decided all the same.
  draft.details.value = await call("GET /api/v1/runs/{id}/steps/{step}", { path: namesOf(step) }).catch(() => null);
}

export interface Decision {
  decision: "allow" | "deny" | "edit" | "answer";
  text?: string;
  arguments?: object;
  rule?: object;
}

/** Sends the decision; false: the draft says why it was refused. */
export async function decide(step: WaitingStep, body: Decision): Promise<boolean> {
  const draft = draftOf(step);
  draft.error.value = "";
  draft.isBusy.value = true;
  try {
    await call("POST /api/v1/runs/{id}/steps/{step}", { path: namesOf(step), body });
    drafts.delete(keyOf(step));
    pending.value = pending.value.filter((each) => keyOf(each) !== keyOf(step));
    void readPending().catch(() => undefined);
    return true;
  } catch (refusal) {
    draft.error.value = (refusal as Error).message;
    return false;
  } finally {
    draft.isBusy.value = false;
  }
}

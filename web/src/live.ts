// What the whole page follows: what happens in any run, and with it the steps that wait for people.
import { effect, signal } from "@preact/signals";
import { call, token } from "./api/client.ts";
import { follow } from "./api/stream.ts";
import type { PendingStep } from "./api/types.ts";
import { noticeNew } from "./ui/notify.ts";

/** The steps that wait in any run, newest first. */
export const pending = signal<PendingStep[]>([]);
/** Grows when any run begins, ends or waits: lists read themselves again. */
export const changes = signal(0);

const atMostEvery = 250;

/** Calls `work` soon, and never twice within `atMostEvery`. */
function calmly(work: () => void): () => void {
  let timer = 0;
  return () => {
    if (timer === 0) {
      timer = window.setTimeout(() => {
        timer = 0;
        work();
      }, atMostEvery);
    }
  };
}

export async function readPending(): Promise<void> {
  const steps = (await call("GET /api/v1/pending", {})).pending;
  pending.value = steps.reverse();
  noticeNew(pending.value);
}

const look = calmly(() => {
  changes.value++;
  void readPending().catch(() => undefined);
});

/** Follows all runs while there is a token; returns how to end that. */
export function followAll(): () => void {
  return effect(() => {
    if (token.value === "") return undefined;
    void readPending().catch(() => undefined);
    const names = ["turn.*", "step.parked", "step.decided", "session.*"];
    const path = "/api/v1/events?deltas=false&" + names.map((name) => "event=" + encodeURIComponent(name)).join("&");
    return follow(path, { event: look, renewed: look });
  });
}

effect(() => {
  const count = pending.value.length;
  document.title = count === 0 ? "Praxis" : `(${count}) Praxis`;
});

// The events of a run, and the run as it was after any of them.
import type { RunEvent } from "../api/types.ts";
import { apply } from "./fold.ts";
import { RunState } from "./run_state.ts";

export class History {
  /** Those that a record holds; pieces of answers are not kept. */
  readonly events: RunEvent[] = [];
  readonly present = new RunState();
  private past = new RunState();
  private pastLength = 0;

  add(event: RunEvent): void {
    if (event.id !== undefined) this.events.push(event);
    apply(this.present, event);
  }

  /** The run after its first `count` events. The state may be that of an earlier call, moved on. */
  at(count: number): RunState {
    if (count < this.pastLength) {
      this.past = new RunState();
      this.pastLength = 0;
    }
    for (; this.pastLength < count; this.pastLength++) {
      const event = this.events[this.pastLength];
      if (event !== undefined) apply(this.past, event);
    }
    return this.past;
  }

  /** How many events there were when a record of a session was written, with it; 0 if there is none. */
  countAt(session: string, seq: number): number {
    return this.events.findLastIndex((each) => each.session === session && each.seq === seq) + 1;
  }

  /** The next moment after (`by` 1) or before (-1) `count` that `fits`; `count` if there is none. */
  seek(count: number, by: 1 | -1, fits: (event: RunEvent) => boolean): number {
    for (let at = count + by; at >= 1 && at <= this.events.length; at += by) {
      const event = this.events[at - 1];
      if (event !== undefined && fits(event)) return at;
    }
    return count;
  }
}

const [shortestPause, longestPause] = [40, 1500];

/** Milliseconds from one event to the next when a run is played; waits of people are cut short. */
export function pauseBetween(from: RunEvent | undefined, to: RunEvent | undefined, speed: number): number {
  const real = from === undefined || to === undefined ? 0 : Date.parse(to.time) - Date.parse(from.time);
  return Math.min(longestPause, Math.max(shortestPause, real / Math.max(speed, 0.01)));
}

export const isError = (event: RunEvent): boolean => /\.(failed|timed_out|cancelled)$/.test(event.event);
export const isDecision = (event: RunEvent): boolean => event.event === "step.parked" || event.event === "step.decided";
export const isAgent = (event: RunEvent): boolean => event.event === "child.spawned" || event.event === "child.settled";

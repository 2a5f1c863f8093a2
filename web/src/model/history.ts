// The events of a run that were loaded, and the run as it was after any of them. Those of a long run are loaded from its end
// backwards: what was before the first of them is in the nodes that came with them.
import { compareIds } from "../api/sse.ts";
import type { RunEvent, TreeNode, TreeRow } from "../api/types.ts";
import { apply } from "./fold.ts";
import { RunState } from "./run_state.ts";

/** Consecutive events, with the agents as they were before the first event of each. */
export interface Page {
  events: RunEvent[];
  agents: TreeNode[];
  has_earlier: boolean;
}

/** An agent from its row in the tree, which leaves out what is empty. */
export function nodeOf(row: TreeRow): TreeNode {
  const usage = { total: row.tokens ?? 0, cost_usd: row.cost_usd };
  return {
    paused: false, comment: "", step: 0, pending: [], waiting: [], ...row,
    parent: row.parent ?? null, children: [], path: "", held: false, usage: { self: usage, subtree: usage }, cost_usd: row.cost_usd ?? null,
  };
}

/** A state is kept after every so many events at first, and at most so many states: then every second one is dropped. */
const [everyAtFirst, mostStates] = [250, 128];

export class History {
  /** Those that a record holds, from one on without a gap; pieces of answers are not kept. */
  events: RunEvent[] = [];
  present = new RunState();
  /** There are events before the first one of `events`. */
  hasEarlier = false;
  /** Older events of single agents, for their conversations. */
  private extra: RunEvent[] = [];
  /** The agents that existed before the first loaded event of each. */
  private readonly before = new Map<string, TreeNode>();
  /** Those of them of which all events are loaded, while others around them are not: they only keep their place. */
  private readonly whole = new Set<string>();
  private readonly first = new Map<string, string>();
  private past = new RunState();
  private pastLength = 0;
  /** The run after 0, `every`, 2 `every` … events: a past moment is folded from the one before it. */
  private states: RunState[] = [new RunState()];
  private every = everyAtFirst;

  add(event: RunEvent): void {
    if (event.id !== undefined) {
      this.events.push(event);
      if (!this.first.has(event.session)) this.first.set(event.session, event.id);
    }
    apply(this.present, event);
  }

  /** Begins with the last events of a run. */
  begin(root: string, page: Page): void {
    this.present.root = root;
    this.prepend(page);
  }

  /** Begins again with the last events of the run, and forgets the older ones: the memory of a long run has a bound. */
  beginAgain(page: Page): void {
    const last = page.events.at(-1)?.id ?? "0.0";
    const later = this.events.filter((event) => compareIds(event.id ?? "", last) > 0);
    this.events = [];
    this.extra = [];
    this.before.clear();
    this.whole.clear();
    this.first.clear();
    this.prepend({ ...page, events: [...page.events, ...later] });
  }

  /** Takes the events right before those that are loaded. */
  prepend(page: Page): void {
    for (const session of this.take(page)) this.before.delete(session);
    const from = page.events[0]?.id;
    if (from !== undefined) this.extra = this.extra.filter((event) => compareIds(event.id ?? "", from) < 0);
    const apart = new Set(this.extra.map((event) => event.session));
    for (const session of this.whole) {
      if (apart.has(session)) continue;
      this.whole.delete(session);
      this.before.delete(session);
    }
    this.events = [...page.events, ...this.events];
    this.hasEarlier = page.has_earlier;
    if (!page.has_earlier) this.before.clear(), this.whole.clear();
    this.rebuild();
  }

  /** Takes the events of one agent right before those of it that are loaded. */
  prependOf(agent: string, page: Page): void {
    this.take(page);
    if (!page.has_earlier) this.whole.add(agent);
    this.extra = [...page.events, ...this.extra].sort((a, b) => compareIds(a.id ?? "", b.id ?? ""));
    this.rebuild();
  }

  /** Takes the whole tree: it has agents of which no event is loaded. */
  know(nodes: TreeNode[]): void {
    if (!this.hasEarlier) return;
    const known = new Map(this.before);
    this.before.clear();
    // In the order of the tree.
    for (const node of nodes) {
      const found = known.get(node.id);
      if (found === undefined && this.first.has(node.id)) continue;
      this.before.set(node.id, found === undefined ? node : { ...found, created: node.created });
      known.delete(node.id);
    }
    for (const [id, node] of known) this.before.set(id, node);
    this.rebuild();
  }

  /** Whether an agent has events before the first one of it that is loaded. */
  hasEarlierOf(agent: string): boolean {
    return this.before.has(agent) && !this.whole.has(agent);
  }

  /** The id of the first loaded event of an agent; undefined: none is loaded. */
  firstOf(agent: string): string | undefined {
    return this.first.get(agent);
  }

  /** Returns the agents of which the page has the first event. */
  private take(page: Page): string[] {
    const begun: string[] = [];
    const nodes = new Map(page.agents.map((node) => [node.id, node]));
    const seen = new Set<string>();
    for (const { session, id = "" } of page.events) {
      if (seen.has(session)) continue;
      seen.add(session);
      const known = this.first.get(session);
      if (known !== undefined && compareIds(known, id) <= 0) continue;
      this.first.set(session, id);
      const node = nodes.get(session);
      if (node === undefined) begun.push(session);
      else this.before.set(session, { ...node, created: this.before.get(session)?.created ?? node.created });
    }
    return begun;
  }

  /** The run before the first of `events`. */
  private beginning(): RunState {
    const run = new RunState();
    run.root = this.present.root;
    for (const node of this.before.values()) {
      if (this.whole.has(node.id)) run.addAgent(node.id, node.parent ?? "", node.depth, node.created);
      else run.addNode(node);
    }
    for (const event of this.extra) apply(run, event);
    return run;
  }

  private rebuild(): void {
    const run = this.beginning();
    this.every = everyAtFirst;
    this.states = [run.copy()];
    this.events.forEach((event, at) => {
      apply(run, event);
      this.keep(run, at + 1);
    });
    for (const [id, { live }] of this.present.agents) {
      const now = live.size > 0 ? run.own(id) : undefined;
      if (now !== undefined) now.live = live;
    }
    this.present = run;
    this.past = this.states[0]!.copy();
    this.pastLength = 0;
  }

  /** Keeps the run after `count` events if it is the next one to keep. */
  private keep(run: RunState, count: number): void {
    if (count !== this.states.length * this.every) return;
    this.states.push(run.copy());
    if (this.states.length <= mostStates) return;
    this.states = this.states.filter((_, at) => at % 2 === 0);
    this.every *= 2;
  }

  /** The run after its first `count` events. The state may be that of an earlier call, moved on. */
  at(count: number): RunState {
    const nearest = Math.min(Math.floor(count / this.every), this.states.length - 1);
    if (count < this.pastLength || this.pastLength < nearest * this.every) {
      this.past = this.states[nearest]!.copy();
      this.pastLength = nearest * this.every;
    }
    while (this.pastLength < Math.min(count, this.events.length)) {
      apply(this.past, this.events[this.pastLength++]!);
      this.keep(this.past, this.pastLength);
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

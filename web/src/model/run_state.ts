// What a run looks like at one moment: agents, their conversations, what took how long.
import type { ParkedStep, Part, RunEvent, TreeNode } from "../api/types.ts";

export type CallState = "called" | "running" | "waiting" | "done" | "failed" | "denied";

interface Common {
  /** Counts changes, so that only what changed is drawn again. */
  version: number;
  seq: number;
  time: string;
}
export interface MessageItem extends Common {
  kind: "message";
  source: string;
  parts: Part[];
}
export interface TextItem extends Common {
  kind: "text" | "reasoning";
  text: string;
  live: boolean;
}
export interface CallItem extends Common {
  kind: "call";
  call: string;
  tool: string;
  args: unknown;
  state: CallState;
  progress: string;
  result: string;
  ms?: number;
  children: string[];
  /** The record of its result. */
  settled?: number;
}
export interface NoteItem extends Common {
  kind: "note";
  tone: "plain" | "good" | "bad" | "waiting";
  text: string;
}
export type Item = MessageItem | TextItem | CallItem | NoteItem;

export interface Agent {
  id: string;
  parent: string;
  name: string;
  depth: number;
  /** Where the call that made it is among the items of its parent; -1 until that is known. */
  place: number;
  /** In the order of the calls that made them: of two at once, either may begin first. */
  children: string[];
  task: string;
  model: string;
  status: string;
  paused: boolean;
  comment: string;
  waits: ParkedStep[];
  tokens: number;
  cost: number;
  step: number;
  began: string;
  updated: string;
  seq: number;
  items: Item[];
  /** The records of its requests to the model. */
  requests: number[];
  /** Pieces of the answer that is being written. */
  live: Map<number, TextItem | CallItem>;
  version: number;
}

export interface Span {
  agent: string;
  kind: "model" | "tool" | "wait";
  name: string;
  seq: number;
  from: number;
  to: number | null;
}

export class RunState {
  agents = new Map<string, Agent>();
  /** None in a copy: the time line of a past moment is that of the present, cut. */
  spans: Span[] = [];
  root = "";
  /** Grows when what the tree shows may have changed. */
  changes = 0;
  private open = new Map<string, Span>();
  /** Where each call is among the items of its agent. The copies share it: what they fold is the same. */
  private calls = new Map<string, number>();
  private keepsTime = true;
  /** The agents and calls that no copy shares, so they may change in place. */
  private mine = new Set<object>();

  /** A copy. Both share what neither changes from now on, so it costs little. */
  copy(): RunState {
    const copy = new RunState();
    copy.agents = new Map(this.agents);
    copy.root = this.root;
    copy.calls = this.calls;
    copy.keepsTime = false;
    this.mine = new Set();
    return copy;
  }

  /** An agent that may be changed; before that, `agents` may have the one of a copy. */
  own(id: string): Agent | undefined {
    const agent = this.agents.get(id);
    if (agent === undefined || this.mine.has(agent)) return agent;
    const { children, waits, items, requests, live } = agent;
    const own = { ...agent, children: [...children], waits: [...waits], items: items.slice(), requests: requests.slice(), live: new Map(live) };
    this.agents.set(id, own);
    this.mine.add(own);
    this.changes++;
    return own;
  }

  /** A call among the items of an agent that is `own`, to be changed. */
  ownCall(agent: Agent, place: number): CallItem {
    let item = agent.items[place] as CallItem;
    if (!this.mine.has(item)) {
      item = { ...item, children: [...item.children] };
      agent.items[place] = item;
      this.mine.add(item);
    }
    item.version++;
    return item;
  }

  /** The last call with this id, to be changed; undefined if the agent has made no such call. */
  lastCall(agent: Agent, call: unknown): CallItem | undefined {
    const place = placeOf(agent, call);
    return place < 0 ? undefined : this.ownCall(agent, place);
  }

  /** Forgets the pieces of answers: a new connection gives them again. */
  forgetPieces(): void {
    for (const { id, live } of [...this.agents.values()]) {
      const agent = live.size > 0 ? this.own(id) : undefined;
      if (agent === undefined) continue;
      agent.version++;
      agent.live.clear();
    }
  }

  agentOf(event: RunEvent): Agent {
    const found = this.own(event.session);
    if (found !== undefined) return found;
    if (this.root === "") this.root = event.session;
    return this.addAgent(event.session, event.parent ?? "", event.depth, event.time);
  }

  addAgent(id: string, parent: string, depth: number, time: string): Agent {
    const agent: Agent = {
      id, parent, depth, name: "agent", place: -1, children: [], task: "", model: "", status: "idle", paused: false, comment: "",
      waits: [], tokens: 0, cost: 0, step: 0, began: time, updated: time, seq: 0, items: [], requests: [], live: new Map(), version: 0,
    };
    this.agents.set(id, agent);
    this.mine.add(agent);
    const above = this.own(parent);
    if (above !== undefined && !above.children.includes(id)) above.children.push(id);
    return agent;
  }

  /** Puts the children of `agent` into the order of their calls; those whose call is unknown were there before. */
  order(agent: Agent): void {
    const place = (id: string) => this.agents.get(id)?.place ?? -1;
    agent.children.sort((a, b) => place(a) - place(b));
  }

  /** Adds an agent as it was at a moment from which on its events follow. */
  addNode(node: TreeNode): Agent {
    const agent = this.addAgent(node.id, node.parent ?? "", node.depth, node.created);
    return Object.assign(agent, {
      name: node.agent || agent.name, task: node.content, status: node.status, paused: node.paused, comment: node.comment, step: node.step,
      tokens: node.usage.self.total, cost: node.usage.self.cost_usd ?? 0, updated: node.updated,
      waits: node.pending.map((step) => ({ ...step, id: step.id.split("/").at(-1) ?? "", session: node.id })),
    });
  }

  begin(agent: Agent, kind: Span["kind"], key: string, name: string, event: RunEvent): void {
    if (!this.keepsTime) return;
    const span = { agent: agent.id, kind, name, seq: event.seq, from: Date.parse(event.time), to: null };
    this.open.set(`${agent.id} ${key}`, span);
    this.spans.push(span);
  }

  end(agent: Agent, key: string, event: RunEvent): void {
    const span = this.open.get(`${agent.id} ${key}`);
    if (span === undefined) return;
    span.to = Date.parse(event.time);
    this.open.delete(`${agent.id} ${key}`);
  }

  endAll(agent: Agent, event: RunEvent): void {
    for (const key of [...this.open.keys()]) {
      if (key.startsWith(agent.id + " ")) this.end(agent, key.slice(agent.id.length + 1), event);
    }
  }

  callOf(agent: Agent, event: RunEvent): CallItem {
    const key = `${agent.id} ${event.turn} ${text(event.call)}`;
    let place = this.calls.get(key) ?? agent.items.length;
    const found = agent.items[place];
    if (found !== undefined && (found.kind !== "call" || found.call !== text(event.call))) place = placeOf(agent, event.call);
    if (place >= 0 && place < agent.items.length) return this.ownCall(agent, place);
    const item: CallItem = {
      kind: "call", version: 1, seq: event.seq, time: event.time, call: text(event.call), tool: text(event.name),
      args: event.arguments, state: "called", progress: "", result: "", children: [],
    };
    if (!this.calls.has(key)) this.calls.set(key, agent.items.length);
    agent.items.push(item);
    this.mine.add(item);
    return item;
  }
}

const placeOf = (agent: Agent, call: unknown): number => agent.items.findLastIndex((each) => each.kind === "call" && each.call === call);

/** A member of an event that should be a text. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

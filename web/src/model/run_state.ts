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
  spans: Span[] = [];
  root = "";
  private open = new Map<string, Span>();
  private calls = new Map<string, CallItem>();

  /** Forgets the pieces of answers: a new connection gives them again. */
  forgetPieces(): void {
    for (const agent of this.agents.values()) {
      if (agent.live.size > 0) agent.version++;
      agent.live.clear();
    }
  }

  agentOf(event: RunEvent): Agent {
    const found = this.agents.get(event.session);
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
    const above = this.agents.get(parent);
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
    let item = this.calls.get(key);
    if (item === undefined) {
      item = {
        kind: "call", version: 0, seq: event.seq, time: event.time, call: text(event.call), tool: text(event.name),
        args: event.arguments, state: "called", progress: "", result: "", children: [],
      };
      this.calls.set(key, item);
      agent.items.push(item);
    }
    item.version++;
    return item;
  }
}

/** A member of an event that should be a text. */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

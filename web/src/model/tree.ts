// The agent tree as rows, and what a row says of everything below it.
import type { Agent, RunState } from "./run_state.ts";

export interface Row {
  agent: Agent;
  depth: number;
  isOpen: boolean;
  hasChildren: boolean;
  /** Tokens and cost of the agent and all below it. */
  tokens: number;
  cost: number;
  /** Steps that wait in it and below it. */
  waits: number;
}

/** Rows from the top down; those below a closed agent are left out. */
export function rows(run: RunState, closed: ReadonlySet<string>): Row[] {
  const all: Row[] = [];
  const visit = (id: string, depth: number, isShown: boolean): Row | undefined => {
    const agent = run.agents.get(id);
    if (agent === undefined) return undefined;
    const isOpen = !closed.has(id);
    const row: Row = {
      agent, depth, isOpen, hasChildren: agent.children.length > 0,
      tokens: agent.tokens, cost: agent.cost, waits: agent.waits.length,
    };
    if (isShown) all.push(row);
    for (const child of agent.children) {
      const below = visit(child, depth + 1, isShown && isOpen);
      row.tokens += below?.tokens ?? 0;
      row.cost += below?.cost ?? 0;
      row.waits += below?.waits ?? 0;
    }
    return row;
  };
  visit(run.root, 0, true);
  return all;
}

/** The part of `count` rows of `height` that a window of `seen` pixels shows at `top`, with some around it. */
export function shown(count: number, height: number, top: number, seen: number): { first: number; last: number } {
  const around = 8;
  const first = Math.max(0, Math.floor(top / height) - around);
  return { first, last: Math.min(count, Math.ceil((top + seen) / height) + around) };
}

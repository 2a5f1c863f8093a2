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

function find(run: RunState): Row[] {
  const all: Row[] = [];
  const visit = (id: string, depth: number): Row | undefined => {
    const agent = run.agents.get(id);
    if (agent === undefined) return undefined;
    const row: Row = {
      agent, depth, isOpen: true, hasChildren: agent.children.length > 0,
      tokens: agent.tokens, cost: agent.cost, waits: agent.waits.length,
    };
    all.push(row);
    for (const child of agent.children) {
      const below = visit(child, depth + 1);
      row.tokens += below?.tokens ?? 0;
      row.cost += below?.cost ?? 0;
      row.waits += below?.waits ?? 0;
    }
    return row;
  };
  visit(run.root, 0);
  return all;
}

/** Without the rows below a closed agent. */
function without(all: readonly Row[], closed: ReadonlySet<string>): Row[] {
  const open: Row[] = [];
  let least = Infinity; // rows that are deeper are below a closed one
  for (const row of all) {
    if (row.depth > least) continue;
    const isClosed = closed.has(row.agent.id);
    least = isClosed ? row.depth : Infinity;
    open.push(isClosed ? { ...row, isOpen: false } : row);
  }
  return open;
}

/** The rows of runs as they were found last; drawing the same again must not look at each agent. */
const known = new WeakMap<RunState, { changes: number; all: Row[] }>();
const left = new WeakMap<readonly Row[], { closed: ReadonlySet<string>; open: Row[] }>();

/** Rows from the top down; those below a closed agent are left out. The same array until the run or `closed` changes. */
export function rows(run: RunState, closed: ReadonlySet<string>): Row[] {
  let found = known.get(run);
  if (found === undefined || found.changes !== run.changes) known.set(run, (found = { changes: run.changes, all: find(run) }));
  if (closed.size === 0) return found.all;
  let part = left.get(found.all);
  if (part?.closed !== closed) left.set(found.all, (part = { closed, open: without(found.all, closed) }));
  return part.open;
}

/** The part of `count` rows of `height` that a window of `seen` pixels shows at `top`, with some around it. */
export function shown(count: number, height: number, top: number, seen: number): { first: number; last: number } {
  const around = 8;
  const first = Math.max(0, Math.floor(top / height) - around);
  return { first, last: Math.min(count, Math.ceil((top + seen) / height) + around) };
}

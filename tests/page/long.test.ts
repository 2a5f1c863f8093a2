// Runs of which only a part is loaded: pages from the end, pages of single agents, the tree around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent, TreeNode } from "../../web/src/api/types.ts";
import { History, nodeOf, type Page } from "../../web/src/model/history.ts";
import type { RunState } from "../../web/src/model/run_state.ts";

const time = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();
function node(id: string, tokens: number, more: Partial<TreeNode> = {}): TreeNode {
  const usage = { total: tokens };
  return {
    id, parent: id === "root" ? null : "root", children: [], agent: id, path: id, depth: id === "root" ? 0 : 1, status: "running", paused: false, held: true,
    content: "task of " + id, comment: "", usage: { self: usage, subtree: usage }, cost_usd: null, step: 1, created: time(0), updated: time(0), pending: [], ...more,
  };
}

/** `count` answers of two agents in turns, each of one token. */
function story(count: number): RunEvent[] {
  const seq = { root: 0, below: 0 };
  return Array.from({ length: count }, (_, at) => {
    const session = at % 3 === 1 ? "below" : "root";
    const name = at < 2 ? "turn.started" : "model.responded";
    return { event: name, session, parent: session === "root" ? undefined : "root", depth: session === "root" ? 0 : 1, seq: ++seq[session], step: 1, time: time(at), id: `${at + 1}.0`, usage: { total: 1 }, config: { agent: session } };
  });
}
const all = story(30);
/** What the server answers: the `limit` events before `end`, of one agent or of all. */
function page(end: number, limit: number, agent?: string): Page {
  const fitting = all.slice(0, end).filter((event) => agent === undefined || event.session === agent);
  const events = fitting.slice(-limit);
  const sessions = [...new Set(events.map((event) => event.session))];
  const agents = sessions.flatMap((session) => {
    const first = events.find((event) => event.session === session)!;
    return first.seq === 1 ? [] : [node(session, first.seq - 2)];
  });
  return { events, agents, has_earlier: fitting.length > limit };
}
const tokens = (run: RunState) => Object.fromEntries([...run.agents.values()].map((agent) => [agent.id, agent.tokens]));
function whole(): History {
  const history = new History();
  history.begin("root", page(30, 30));
  return history;
}

test("the end of a run has the sums of the whole", () => {
  const history = new History();
  history.begin("root", page(30, 4));
  assert.equal(history.events.length, 4);
  assert.ok(history.hasEarlier);
  assert.deepEqual(tokens(history.present), tokens(whole().present));
  assert.equal(history.present.agents.get("root")!.task, "task of root");
});

test("earlier pages lead to the whole, in any sizes", () => {
  for (const size of [1, 3, 7, 29]) {
    const history = new History();
    history.begin("root", page(30, 5));
    while (history.hasEarlier) {
      const first = Number(history.events[0]!.id!.split(".")[0]);
      history.prepend(page(first - 1, size));
      assert.deepEqual(tokens(history.present), tokens(whole().present));
    }
    assert.deepEqual(history.events, all);
    assert.deepEqual(tokens(history.at(10)), tokens(whole().at(10)));
    assert.equal(history.hasEarlierOf("root"), false);
  }
});

test("a past moment of a part is that of the whole", () => {
  const history = new History();
  history.begin("root", page(30, 12));
  for (const count of [12, 3, 7]) assert.deepEqual(tokens(history.at(count)), tokens(whole().at(18 + count)));
});

test("an agent's earlier events do not change the others, nor the moments", () => {
  const history = new History();
  history.begin("root", page(30, 6));
  const first = Number(history.firstOf("below")!.split(".")[0]);
  history.prependOf("below", page(first - 1, 2, "below"));
  assert.ok(history.hasEarlierOf("below"));
  const other = new History();
  other.begin("root", page(30, 6));
  other.prependOf("below", page(first - 1, 2, "below"));
  other.prepend(page(24, 2));
  assert.deepEqual(tokens(other.present), tokens(whole().present));
  history.prependOf("below", page(first - 7, 100, "below"));
  assert.equal(history.hasEarlierOf("below"), false);
  assert.equal(history.events.length, 6);
  assert.deepEqual(tokens(history.present), tokens(whole().present));
  assert.deepEqual(tokens(history.at(2)), tokens(whole().at(26)));
  // A page of the whole run that overlaps has nothing twice.
  history.prepend(page(24, 24));
  assert.deepEqual(history.events, all);
  assert.deepEqual(tokens(history.present), tokens(whole().present));
});

test("agents of which no event is loaded are those of the tree", () => {
  const history = new History();
  history.begin("root", page(30, 1));
  history.know([node("root", 999), node("below", 8), node("idle", 5, { status: "completed" })]);
  assert.deepEqual(history.present.agents.get("root")!.children, ["below", "idle"]);
  assert.deepEqual(tokens(history.present), { root: 19, below: 8, idle: 5 });
  assert.ok(history.hasEarlierOf("idle"));
  history.add({ ...all[29]!, id: "31.0", session: "idle", depth: 1, parent: "root" });
  assert.equal(tokens(history.present).idle, 6);
  history.prepend(page(29, 29));
  assert.equal(history.hasEarlierOf("idle"), false);
});

test("an agent keeps its place in the tree when its events are loaded", () => {
  const history = new History();
  history.begin("root", page(30, 1));
  history.know([node("root", 19), node("below", 8), node("idle", 5)]);
  const below = Number(history.firstOf("below")?.split(".")[0] ?? 31);
  history.prependOf("below", page(below - 1, 100, "below"));
  assert.equal(history.hasEarlierOf("below"), false);
  assert.deepEqual(history.present.agents.get("root")!.children, ["below", "idle"]);
  assert.deepEqual(tokens(history.present), { root: 19, below: 9, idle: 5 });
  history.prepend(page(29, 29));
  assert.deepEqual(tokens(history.present), tokens(whole().present));
});

test("pieces of an answer survive what is loaded before them", () => {
  const history = new History();
  history.begin("root", page(30, 5));
  history.add({ ...all[29]!, id: undefined, event: "text.delta", session: "root", text: "so far", item: 0 });
  history.prepend(page(25, 5));
  assert.equal([...history.present.agents.get("root")!.live.values()].length, 1);
});

test("a row of the tree is an agent without what is empty", () => {
  const row = { id: "below", parent: "root", depth: 1, agent: "below", status: "running", content: "task of below", created: time(0), updated: time(0), tokens: 8, step: 1 };
  const history = new History();
  const other = new History();
  for (const each of [history, other]) each.begin("root", page(30, 1));
  history.know([node("root", 19), nodeOf(row)]);
  other.know([node("root", 19), node("below", 8)]);
  assert.deepEqual(history.present.agents.get("below"), other.present.agents.get("below"));
  assert.equal(nodeOf({ ...row, parent: undefined, tokens: undefined, cost_usd: 0.5 }).usage.self.cost_usd, 0.5);
});

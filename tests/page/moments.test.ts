// What it costs to move through time: counted, so that it holds on any machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunEvent } from "../../web/src/api/types.ts";
import { apply } from "../../web/src/model/fold.ts";
import { History } from "../../web/src/model/history.ts";
import { RunState, type Agent } from "../../web/src/model/run_state.ts";
import { rows } from "../../web/src/model/tree.ts";
import { lanes } from "../../web/src/model/waterfall.ts";
import { Bars, LaneView } from "../../web/src/run/lanes.tsx";
import type { Store } from "../../web/src/run/store.ts";

const time = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();

/** Turns of a run, in each of which a call makes a sub-agent that asks before its own call. */
function story(turns: number): RunEvent[] {
  const all: RunEvent[] = [];
  const seqs = new Map<string, number>();
  const put = (name: string, session: string, turn: string, more: object = {}) => {
    const seq = (seqs.get(session) ?? 0) + 1;
    seqs.set(session, seq);
    const [depth, parent] = session === "root" ? [0, undefined] : [1, "root"];
    all.push({ event: name, session, parent, depth, seq, step: 1, turn, time: time(all.length), id: `${all.length + 1}.0`, ...more });
  };
  for (let at = 0; at < turns; at++) {
    const [turn, call, below] = [`t${at}`, { call: "c1", name: "helper" }, `below${at}`];
    put("turn.started", "root", turn, { config: { agent: "lead", model: "m" } });
    put("tool.called", "root", turn, call);
    put("tool.started", "root", turn, call);
    put("child.spawned", "root", turn, { child: below, agent: "agent", call: "c1" });
    put("tool.called", below, "t", { call: "k", name: "kv" });
    put("step.parked", below, "t", { parked: { id: "p", kind: "approval", prompt: "May it?", call: "k", tool: "kv" } });
    put("step.decided", below, "t", { park: "p", call: "k", verb: "allow", by: "owner" });
    put("tool.completed", below, "t", { call: "k", name: "kv", text: `stored ${at}` });
    put("child.settled", "root", turn, { child: below, reason: "completed" });
    put("tool.completed", "root", turn, { ...call, text: `answer ${at}` });
    put("turn.completed", "root", turn, { result: { result: "Led." } });
  }
  return all;
}

const facts = (run: RunState) => JSON.stringify([...run.agents.values()].map(({ live, ...agent }) => ({ ...agent, live: live.size })));

function folded(events: RunEvent[]): RunState {
  const run = new RunState();
  for (const each of events) apply(run, each);
  return run;
}

function loaded(events: RunEvent[]): History {
  const history = new History();
  history.begin("root", { events, agents: [], has_earlier: false });
  return history;
}

test("a step to any moment folds few events, wherever it comes from", () => {
  const read = new Set<RunEvent>();
  const events = Array.from({ length: 40_000 }, (_, at) => {
    const each: RunEvent = { event: "assistant.text", session: "root", depth: 0, seq: at + 1, step: 1, time: time(at), id: `${at + 1}.0`, text: `Text ${at}` };
    return Object.defineProperty(each, "text", { get: () => (read.add(each), `Text ${at}`) });
  });
  const history = loaded(events);
  for (const count of [39_999, 39_500, 20_000, 3, 30_001, 29_999, 12_345, 12_344]) {
    read.clear();
    const { items } = history.at(count).agents.get("root")!;
    assert.equal(items.length, count);
    assert.ok(read.size <= 700, `${read.size} events for moment ${count}`);
  }
});

test("what streamed in is folded once, then it is near too", () => {
  const history = loaded([]);
  const all = story(300);
  let read = 0;
  for (const each of all) history.add(Object.defineProperty(each, "turn", { get: () => (read++, "t") }));
  history.at(all.length - 1);
  read = 0;
  history.at(all.length - 400);
  history.at(30);
  assert.ok(read < 700, `${read} reads`);
});

test("any moment is the fold of the events before it, in any order of moments", () => {
  const events = story(400);
  const history = loaded(events);
  const present = facts(history.present);
  assert.equal(present, facts(folded(events)));
  // A piece of an answer that is being written is in the present alone.
  history.add({ event: "text.delta", session: "root", depth: 0, seq: 9, step: 1, time: time(0), text: "so far", item: 0 });
  for (let at = 0, count = 1; at < 60; at++, count = ((count + 1777) % events.length) + 1) {
    assert.equal(facts(history.at(count)), facts(folded(events.slice(0, count))), `moment ${count}`);
  }
  assert.equal(history.present.agents.get("root")!.live.size, 1);
  assert.equal(history.present.agents.get("root")!.items.length, (JSON.parse(present) as Agent[])[0]!.items.length);
});

test("moments share what did not change between them, so it is not drawn again", () => {
  const history = loaded(story(400));
  const items = (count: number) => history.at(count).agents.get("root")!.items;
  const [later, earlier] = [items(4000), items(1000)];
  assert.ok(earlier.length > 250);
  const shared = earlier.filter((item, at) => item === later[at]).length;
  assert.ok(shared >= earlier.length - 70, `${shared} of ${earlier.length}`);
});

test("rows are found once for each change of the run", () => {
  const run = folded(story(200));
  let looked = 0;
  const get = run.agents.get.bind(run.agents);
  run.agents.get = (id: string) => (looked++, get(id));
  const [none, closed] = [new Set<string>(), new Set(["root"])];
  const all = rows(run, none);
  assert.equal(all.length, 201);
  assert.ok(looked >= 201);
  looked = 0;
  for (let at = 0; at < 50; at++) assert.equal(rows(run, none), all);
  assert.equal(rows(run, closed).length, 1);
  assert.equal(rows(run, closed), rows(run, closed));
  assert.equal(looked, 0);
  apply(run, { event: "model.responded", session: "below7", depth: 1, seq: 99, step: 1, time: time(9), id: "9999.0", usage: { total: 5 } });
  assert.equal(rows(run, none)[0]!.tokens, 5);
});

test("a lane that scrolls by is not drawn again, and its bars are not when time moves", () => {
  const run = folded(story(3));
  const [lane, other] = lanes(run, { from: 0, to: 1 }, 1) as [ReturnType<typeof lanes>[0], ReturnType<typeof lanes>[0]];
  const store = {} as Store;
  const props = () => ({ lane, now: 1, store, top: 0, place: 1, count: 4, until: 1, isStop: false, reach: () => undefined });
  const view = new LaneView(props());
  assert.equal(view.shouldComponentUpdate(props()), false);
  assert.equal(view.shouldComponentUpdate({ ...props(), until: 0.5 }), true);
  assert.equal(view.shouldComponentUpdate({ ...props(), isStop: true }), true);
  const bars = new Bars({ lane, now: 1, store });
  assert.equal(bars.shouldComponentUpdate({ lane, now: 1, store }), false);
  assert.equal(bars.shouldComponentUpdate({ lane: other, now: 1, store }), true);
});

// What the page computes without a browser: server-sent events, the fold of a run, tree, timeline, history, usage.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compareIds, reader, type Sent } from "../../web/src/api/sse.ts";
import type { RunEvent } from "../../web/src/api/types.ts";
import { apply } from "../../web/src/model/fold.ts";
import { History, isDecision, isError } from "../../web/src/model/history.ts";
import { addressOf, filterOf, noFilter, queryOf, saysMore, stillListed } from "../../web/src/model/run_filter.ts";
import { RunState, type CallItem } from "../../web/src/model/run_state.ts";
import { rows, shown } from "../../web/src/model/tree.ts";
import { csv, dayBars, figures, sums, top } from "../../web/src/model/usage.ts";
import { extent, lanes, totals, zoomed } from "../../web/src/model/waterfall.ts";
import { address, placeOf } from "../../web/src/router.ts";

let position = 0;
const at = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();
function event(name: string, session: string, ms: number, more: object = {}): RunEvent {
  const seq = ++position;
  return { event: name, session, depth: session === "root" ? 0 : 1, parent: session === "root" ? undefined : "root", seq, turn: "t1", step: 1, time: at(ms), id: `${seq}.0`, ...more };
}
const piece = (text: string, item = 0): RunEvent => ({ ...event("text.delta", "root", 5, { text, item }), id: undefined });

/** A run with a sub-agent that asks before its only call. */
function story(): RunEvent[] {
  position = 0;
  const kv = { call: "c1", name: "kv", arguments: { key: "k" } };
  return [
    event("turn.started", "root", 0, { config: { agent: "lead", model: "m" } }),
    event("message.added", "root", 0, { source: "user", message: { content: [{ type: "text", text: "Go" }] } }),
    event("model.requested", "root", 1, { model: "m" }),
    event("assistant.text", "root", 9, { text: "I ask." }),
    event("model.responded", "root", 10, { usage: { total: 30, cost_usd: 0.25 } }),
    event("tool.called", "root", 10, { call: "c1", name: "helper", arguments: { prompt: "help" } }),
    event("tool.started", "root", 11, { call: "c1", name: "helper", arguments: { prompt: "help" } }),
    event("child.spawned", "root", 12, { child: "below", agent: "agent", call: "c1" }),
    event("turn.started", "below", 13, { config: { agent: "agent", model: "m" } }),
    event("model.requested", "below", 14, { model: "m" }),
    event("model.responded", "below", 20, { usage: { total: 12 } }),
    event("tool.called", "below", 20, kv),
    event("step.parked", "below", 21, { parked: { id: "p1", kind: "approval", prompt: "May it?", call: "c1", tool: "kv" } }),
    event("step.decided", "below", 51, { park: "p1", call: "c1", verb: "allow", by: "owner" }),
    event("tool.started", "below", 51, kv),
    event("tool.completed", "below", 55, { ...kv, text: "stored", duration_ms: 4 }),
    event("turn.completed", "below", 56, { result: { result: "Done." } }),
    event("tool.completed", "root", 57, { call: "c1", name: "helper", arguments: { prompt: "help" }, text: "Done.", duration_ms: 46 }),
    event("turn.completed", "root", 60, { result: { result: "Led." } }),
  ];
}
function folded(events: RunEvent[]): RunState {
  const run = new RunState();
  for (const each of events) apply(run, each);
  return run;
}

test("sub-agents stand in the order of their calls, in whatever order they begin", () => {
  position = 0;
  const called = (call: string, name: string) => event("tool.called", "root", 1, { call, name, arguments: {} });
  const spawned = (child: string, call: string) => event("child.spawned", "root", 3, { child, agent: "agent", call });
  const run = folded([
    event("turn.started", "root", 0, { config: { agent: "lead", model: "m" } }),
    called("c1", "first"), called("c2", "second"), called("c3", "third"),
    event("turn.started", "three", 2, { config: { agent: "agent", model: "m" } }),
    spawned("two", "c2"), spawned("three", "c3"), spawned("one", "c1"),
  ]);
  assert.deepEqual(rows(run, new Set()).map((row) => row.agent.id), ["root", "one", "two", "three"]);
});

test("events are read whole, however they were cut", () => {
  const text = ": alive\n\nid: 4.1\nevent: a\ndata: {\"x\":\"ü\"}\n\nevent: b\ndata: 1\ndata: 2\r\n\r\n";
  for (let size = 1; size < text.length; size++) {
    const all: Sent[] = [];
    const put = reader((sent) => all.push(sent));
    for (let begin = 0; begin < text.length; begin += size) put(text.slice(begin, begin + size));
    assert.deepEqual(all, [{ id: "4.1", event: "a", data: '{"x":"ü"}' }, { event: "b", data: "1\n2" }]);
  }
});

test("ids are ordered as numbers", () => {
  assert.ok(compareIds("9.0", "10.0") < 0);
  assert.ok(compareIds("10.2", "10.10") < 0);
  assert.equal(compareIds("7.1", "7.1"), 0);
});

test("a run is its agents with their conversations", () => {
  const run = folded(story());
  const root = run.agents.get("root")!;
  const below = run.agents.get("below")!;
  assert.equal(run.root, "root");
  assert.deepEqual([root.name, root.task, root.status, root.tokens, root.cost], ["lead", "Go", "completed", 30, 0.25]);
  assert.deepEqual([below.name, below.parent, below.status, below.tokens], ["helper", "root", "completed", 12]);
  assert.deepEqual(root.items.map((item) => item.kind), ["message", "text", "call", "text", "note"]);
  const call = root.items[2] as CallItem;
  assert.deepEqual([call.tool, call.state, call.result, call.ms, call.children], ["helper", "done", "Done.", 46, ["below"]]);
});

test("a step that waits is shown until it is decided", () => {
  const events = story();
  const waiting = folded(events.slice(0, 13)).agents.get("below")!;
  assert.equal(waiting.status, "awaiting_user");
  assert.deepEqual(waiting.waits.map((step) => step.id), ["p1"]);
  assert.equal((waiting.items.find((item) => item.kind === "call") as CallItem).state, "waiting");
  assert.deepEqual(folded(events).agents.get("below")!.waits, []);
});

test("pieces give way to the whole answer", () => {
  const run = folded(story().slice(0, 3));
  for (const text of ["I ", "a", "sk."]) apply(run, piece(text));
  const root = run.agents.get("root")!;
  assert.deepEqual([...root.live.values()].map((item) => item.kind === "text" && item.text), ["I ask."]);
  apply(run, event("assistant.text", "root", 9, { text: "I ask." }));
  assert.equal(root.live.size, 0);
  assert.deepEqual(root.items.filter((item) => item.kind === "text").map((item) => item.text), ["I ask."]);
});

test("after a new connection, pieces are not there twice", () => {
  const run = folded(story().slice(0, 3));
  apply(run, piece("I a"));
  run.forgetPieces();
  apply(run, piece("I ask"));
  const live = [...run.agents.get("root")!.live.values()][0]!;
  assert.equal(live.kind === "text" && live.text, "I ask");
});

test("a superseded attempt leaves no pieces", () => {
  const run = folded(story().slice(0, 3));
  apply(run, piece("wrong"));
  apply(run, event("attempt.superseded", "root", 6));
  assert.equal(run.agents.get("root")!.live.size, 0);
});

test("tree rows sum what is below them, and closed agents hide it", () => {
  const run = folded(story().slice(0, 13));
  const open = rows(run, new Set());
  assert.deepEqual(open.map((row) => [row.agent.id, row.depth, row.tokens, row.waits]), [["root", 0, 42, 1], ["below", 1, 12, 1]]);
  const closed = rows(run, new Set(["root"]));
  assert.deepEqual(closed.map((row) => [row.agent.id, row.isOpen, row.tokens]), [["root", false, 42]]);
});

test("only the rows in sight are drawn", () => {
  const part = shown(2000, 44, 44 * 1000, 440);
  assert.ok(part.first > 980 && part.first <= 1000 && part.last >= 1010 && part.last < 1030);
  assert.deepEqual(shown(3, 44, 0, 600), { first: 0, last: 3 });
});

test("the timeline has a bar for each call and wait", () => {
  const run = folded(story());
  const window = extent(run.spans, 0);
  assert.equal(window.to - window.from, 56);
  const all = lanes(run, window, 0);
  assert.deepEqual(all.map((lane) => [lane.name, lane.bars.map((bar) => bar.span.kind)]), [["lead", ["model", "tool"]], ["helper", ["model", "wait", "tool"]]]);
  const wait = all[1]!.bars[1]!;
  assert.ok(Math.abs(wait.left - 20 / 56) < 1e-9 && Math.abs(wait.width - 30 / 56) < 1e-9);
  assert.deepEqual(totals(run.spans, 0), { model: 15, tool: 50, wait: 30 });
});

test("what happens at once lies on levels of its own", () => {
  position = 0;
  const call = (id: string) => ({ call: id, name: "t", arguments: {} });
  const run = folded([
    event("tool.started", "root", 0, call("a")), event("tool.started", "root", 1, call("b")),
    event("tool.completed", "root", 5, call("a")), event("tool.started", "root", 6, call("c")),
  ]);
  const lane = lanes(run, { from: Date.parse(at(0)), to: Date.parse(at(10)) }, Date.parse(at(10)))[0]!;
  assert.deepEqual(lane.bars.map((bar) => bar.level), [0, 1, 0]);
  assert.equal(lane.levels, 2);
});

test("bars that are too narrow to see are drawn as one", () => {
  position = 0;
  const calls = Array.from({ length: 5000 }, (_, at) => ({ call: `c${at}`, name: "t", arguments: {} }));
  const run = folded(
    calls.flatMap((call, at) => [
      event("model.requested", "root", at * 3), event("model.responded", "root", at * 3 + 1),
      event("tool.started", "root", at * 3 + 1, call), event("tool.completed", "root", at * 3 + 2, call),
    ]),
  );
  const lane = lanes(run, extent(run.spans, 0), 0)[0]!;
  assert.deepEqual(lane.bars.map((bar) => bar.span.kind), ["model", "tool"]);
  for (const bar of lane.bars) assert.ok(bar.width > 0.999);
  assert.equal(lanes(run, { from: run.spans[0]!.from, to: run.spans[9]!.to! }, 0)[0]!.bars.length, 10);
});

test("zoom stays within the run, around where it is asked for", () => {
  const whole = { from: 0, to: 1000 };
  assert.deepEqual(zoomed(whole, whole, 0.5, 0.5), { from: 250, to: 750 });
  assert.deepEqual(zoomed(whole, whole, 0.5, 0), { from: 0, to: 500 });
  assert.deepEqual(zoomed({ from: 800, to: 1000 }, whole, 100, 0.5), whole);
  assert.deepEqual(zoomed({ from: 5, to: 6 }, whole, 0.5, 0.5), { from: 5, to: 6 });
});

test("any past moment is the fold of the events up to it", () => {
  const events = story();
  const history = new History();
  for (const each of events) history.add(each);
  history.add(piece("not kept"));
  assert.equal(history.events.length, events.length);
  const facts = (run: RunState) => JSON.stringify([...run.agents.values()].map(({ live, ...agent }) => ({ ...agent, live: live.size })));
  for (const count of [1, 13, 5, 19, 18, 2]) assert.equal(facts(history.at(count)), facts(folded(story().slice(0, count))), String(count));
});

test("time travel finds errors, decisions and records", () => {
  const history = new History();
  for (const each of story()) history.add(each);
  assert.equal(history.seek(1, 1, isDecision), 13);
  assert.equal(history.seek(19, -1, isDecision), 14);
  assert.equal(history.seek(5, 1, isError), 5);
  assert.equal(history.countAt("below", 13), 13);
  assert.equal(history.countAt("root", 13), 0);
});

test("usage is summed by a column, and unknown prices stay unknown", () => {
  const row = (day: string, agent: string, total: number, cost_usd: number | null) => ({ day, agent, model: "m", calls: 1, usage: { total, input: total }, cost_usd });
  const all = [row("2026-01-01", "a", 5, 1), row("2026-01-02", "a", 7, null), row("2026-01-02", "b", 20, 2)];
  assert.deepEqual(sums(all, "agent").map((sum) => [sum.name, sum.calls, sum.total, sum.cost]), [["b", 1, 20, 2], ["a", 2, 12, null]]);
  assert.deepEqual(sums(all, "day").map((sum) => sum.name), ["2026-01-02", "2026-01-01"]);
});

test("a chart has a bar for each day, made of what the calls took", () => {
  const row = (day: string, input: number, cached: number, output: number, cost_usd: number | null) => ({ day, agent: "a", model: "m", calls: 1, usage: { total: input + output, input, cache_read: cached, output }, cost_usd });
  const rows = [row("2026-02-28", 10, 4, 3, 1), row("2026-03-02", 1, 0, 1, null), row("2026-03-02", 1, 0, 0, 2)];
  const bars = dayBars(rows, "2026-02-27", "2026-03-02", "tokens");
  assert.deepEqual(bars.map((bar) => [bar.day, bar.total]), [["2026-02-27", 0], ["2026-02-28", 13], ["2026-03-01", 0], ["2026-03-02", 3]]);
  assert.deepEqual(bars[1]!.parts, [{ name: "input", amount: 6 }, { name: "cached", amount: 4 }, { name: "output", amount: 3 }]);
  assert.deepEqual(dayBars(rows, "2026-02-28", "2026-02-28", "cost").map((bar) => bar.total), [1]);
  assert.deepEqual([0, 0.03, 1, 1.01, 3, 5.5, 1000, 1001].map(top), [1, 0.05, 1, 2, 5, 10, 1000, 2000]);
});

test("measures of tools are calls alone, and a rate of nothing is empty", () => {
  const calls = { calls: 3, errors: 1, retries: 0, median_ms: 20, p95_ms: 1500 };
  const empty = { calls: 0, errors: 0, retries: 0, median_ms: 0, p95_ms: 0 };
  const row = { name: "kv", turns: 0, finished: 0, success_rate: null, steps: 0, model_calls: empty, tool_calls: calls, usage: { total: 0 }, waiting: { total_ms: 90_000, people_ms: 60_000, timers_ms: 0, sub_agents_ms: 30_000, retries_ms: 0 }, cost_usd: 0 };
  const tools = figures({ by: "tool", rows: [row] });
  assert.deepEqual(tools.rows[0]!.cells.map((cell) => cell.shown), ["3", "1", "0", "20 ms", "1.5 s"]);
  assert.equal(tools.heads.length, 5);
  const agents = figures({ by: "agent", rows: [row, { ...row, name: null, success_rate: 2 / 3 }] });
  assert.equal(agents.heads.length, agents.rows[0]!.cells.length);
  assert.deepEqual(agents.rows[0]!.cells[1], { shown: "", saved: null });
  assert.equal(agents.rows[1]!.cells[1]!.shown, "67 %");
  assert.deepEqual(agents.rows[0]!.cells.slice(-2).map((cell) => cell.saved), [90_000, 60_000]);
  assert.equal(agents.rows[1]!.name, "");
});

test("CSV quotes, and disarms formulas", () => {
  assert.equal(csv(["a", "b"], [['x"y', 1], ["=1+1", null], ["p,q", -2]]), 'a,b\r\n"x""y",1\r\n\'=1+1,\r\n"p,q",-2\r\n');
});

test("addresses name views, agents and records, and survive nonsense", () => {
  for (const place of [{ view: "inbox" }, { view: "run", run: "R" }, { view: "run", run: "R", agent: "A/ä", record: 7 }] as const) assert.deepEqual(placeOf(address(place)), place);
  assert.deepEqual(placeOf("#/run/%E0%A4%A/record/x"), { view: "run", run: "%E0%A4%A" });
  assert.deepEqual(placeOf("#/nothing/here"), { view: "runs" });
});

test("the filters of the list are in the address, and a day is the reader's whole day", () => {
  const filter = { ...noFilter, q: "a b&c", agent: "chat", from: "2026-03-01", until: "2026-03-01", most: "0.5" };
  const words = addressOf(filter);
  assert.deepEqual(filterOf(words), filter);
  assert.equal(address({ view: "runs", filter: words }), "#/runs?" + words);
  assert.deepEqual(placeOf("#/runs?" + words), { view: "runs", filter: words });
  assert.deepEqual(placeOf(address({ view: "runs", filter: "" })), { view: "runs" });
  assert.deepEqual(filterOf("other=1"), noFilter);
  const query = queryOf(filter);
  assert.equal(new Date(query.from!).getTime(), new Date(2026, 2, 1).getTime());
  assert.equal(new Date(query.until!).getTime(), new Date(2026, 2, 2).getTime() - 1);
  assert.equal(query.max_cost, "0.5");
  assert.equal(queryOf({ ...noFilter, from: "2026-3" }).from, "");
  assert.ok(saysMore(filter) && !saysMore({ ...noFilter, q: "x" }));
});

test("what is selected stays so while it is listed", () => {
  assert.deepEqual([...stillListed(new Set(["a", "b"]), [{ id: "b" }, { id: "c" }])], ["b"]);
});

// What the page computes to decide and to compare, without a browser: steps that are alike, forms, edits, alignment.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Branch, StoredRecord } from "../../web/src/api/types.ts";
import { problems } from "../../web/src/decide/schema.ts";
import { align, pieces, type Step, stepsOf } from "../../web/src/model/align.ts";
import { alikeTo } from "../../web/src/model/alike.ts";
import { attemptBody, attemptOf, inputOf } from "../../web/src/model/attempt.ts";
import { branchRows } from "../../web/src/model/branches.ts";
import { editablesOf, forkBody } from "../../web/src/model/edits.ts";
import { factsOf, requestOf } from "../../web/src/model/explain.ts";
import { changeOf, imageOf } from "../../web/src/model/file_change.ts";
import { apply } from "../../web/src/model/fold.ts";
import { fieldsOf, valueOf } from "../../web/src/model/form.ts";
import { pauseBetween } from "../../web/src/model/history.ts";
import { answersOf } from "../../web/src/model/run_file.ts";
import { RunState } from "../../web/src/model/run_state.ts";

test("steps are alike if tool and arguments are the same, in any order of members", () => {
  const step = (args: unknown, more = {}) => ({ kind: "approval", prompt: "May it?", tool: "kv", arguments: args, ...more });
  const all = [step({ a: 1, b: { c: 2, d: 3 } }), step({ b: { d: 3, c: 2 }, a: 1 }), step({ a: 1 }), step({ a: 1, b: { c: 2, d: 3 } }, { tool: "other" })];
  assert.deepEqual(alikeTo(all[0]!, all), [all[0], all[1]]);
  const question = (prompt: string, schema: unknown = null) => ({ kind: "question", prompt, schema });
  const asked = [question("Which?"), question("Which?"), question("Which?", { type: "boolean" }), question("Why?")];
  assert.equal(alikeTo(asked[0]!, asked).length, 2);
});

const schema = {
  type: "object",
  required: ["name", "size", "colour"],
  properties: {
    name: { type: "string", title: "Your name", minLength: 2 },
    size: { type: "integer", minimum: 1, maximum: 9 },
    colour: { enum: ["red", "blue"] },
    tags: { type: "array", items: { oneOf: [{ const: "a", title: "A tag" }, { const: "b" }] } },
    sure: { type: "boolean", default: true },
    more: { type: "object" },
  },
};

test("a form has a field of the right kind for each member of a schema", () => {
  const fields = fieldsOf(schema)!;
  assert.deepEqual(fields.map((field) => field.kind), ["text", "number", "choice", "choices", "yes_no", "json"]);
  assert.deepEqual(fields.map((field) => field.isRequired), [true, true, true, false, false, false]);
  assert.deepEqual([fields[0]!.label, fields[3]!.options[0]!.label, fields[1]!.isWhole], ["Your name", "A tag", true]);
  assert.equal(fieldsOf({ type: "string" })![0]!.kind, "text");
  assert.equal(fieldsOf({ anyOf: [{ type: "string" }, { type: "object" }] }), undefined);
  assert.equal(fieldsOf(null), undefined);
});

test("what was filled in is sent in the types of the schema", () => {
  const fields = fieldsOf(schema)!;
  const filled = { name: "Ada", size: "3", colour: "blue", tags: ["b"], more: '{"x": 1}' };
  assert.deepEqual(valueOf(fields, filled), { name: "Ada", size: 3, colour: "blue", tags: ["b"], sure: true, more: { x: 1 } });
  assert.deepEqual(valueOf(fields, { size: "" }), { tags: [], sure: true });
  const texts = fieldsOf({ type: "object", required: ["must"], properties: { must: { type: "string" }, may: { type: "string" } } })!;
  assert.deepEqual(valueOf(texts, { must: "", may: "" }), { must: "" }, "an empty text is left out only if it may be");
  assert.equal(valueOf(fieldsOf({ type: "number" })!, { "": "2.5" }), 2.5);
});

test("what is wrong with a value is said where it is", () => {
  const wrong = (value: unknown) => problems(schema, value).map((each) => each.at);
  const right = { name: "Ada", size: 3, colour: "blue" };
  assert.deepEqual(wrong(right), []);
  assert.deepEqual(wrong({ ...right, size: 10 }), ["size"]);
  assert.deepEqual(wrong({ ...right, name: "A", colour: "green" }), ["name", "colour"]);
  assert.match(problems(schema, { name: "Ada", size: 3 })[0]!.message, /colour/);
  assert.deepEqual(problems({ $ref: "https://elsewhere.example/x" }, 1), [], "the server decides");
});

const record = (seq: number, kind: string, body: object): StoredRecord => ({ seq, kind, time: 1000 + seq, body });

test("messages, answers, arguments and results can be edited; other records cannot", () => {
  const message = record(3, "message_appended", { source: "user", message: { role: "user", content: [{ type: "text", text: "Go" }] } });
  const call = { type: "tool_call", id: "c1", name: "kv", arguments: '{"op":"get"}' };
  const answer = record(5, "effect_settled", { effect: "e1", response: { content: [{ type: "text", text: "I look." }, call] } });
  const intent = record(6, "effect_intended", { effect: "e2", kind: "tool" });
  const result = record(7, "effect_settled", { effect: "e2", result: { text: "120" } });
  const whats = (of: StoredRecord, by?: StoredRecord) => editablesOf(of, by).map((each) => `${each.what} ${each.text}`);
  assert.deepEqual(whats(message), ["message Go"]);
  assert.deepEqual(whats(answer), ["answer I look.", 'arguments {"op":"get"}']);
  assert.deepEqual(whats(result, intent), ["result 120"]);
  const steered = record(9, "message_appended", { source: "steer", message: { content: [{ type: "text", text: "Go" }] } });
  assert.deepEqual(whats(steered), [], "it does not begin a turn");
  for (const other of [record(1, "session_created", {}), record(2, "turn_started", {}), record(8, "turn_settled", {})]) assert.deepEqual(whats(other), []);
  assert.deepEqual(whats(result), [], "of an effect that is not known");
  assert.deepEqual(forkBody(message, editablesOf(message)[0]!, "Stop", "", 1), { seq: 1, prompt: "Stop" });
  assert.deepEqual(forkBody(answer, editablesOf(answer)[1]!, '{"op":"list"}', "p:m", 0), { seq: 5, edit: { call: "c1", arguments: { op: "list" } }, continue: true, model: "p:m" });
});

test("the facts of an answer are its tokens, price and time", () => {
  const usage = { total: 1000, input: 900, output: 100, cache_read: 450, cost_usd: 0.02 };
  const facts = Object.fromEntries(factsOf(record(5, "effect_settled", { response: { model: "m", finish: "stop", usage } }), record(4, "effect_intended", {})));
  assert.deepEqual([facts.Input, facts["From cache"], facts.Price, facts.Took], ["900 tokens", "450 tokens, 50 %", "$0.02", "1 ms"]);
  assert.equal(Object.fromEntries(factsOf(record(5, "effect_settled", { response: { usage: { total: 1 } } }))).Price, "unknown");
});

test("a request shows what is new since the one before", () => {
  const run = new RunState();
  const event = (name: string, seq: number, more: object = {}) =>
    apply(run, { event: name, session: "root", depth: 0, seq, step: 1, turn: "t1", time: new Date(seq).toISOString(), id: `${seq}.0`, ...more });
  event("message.added", 3, { source: "user", message: { content: [{ type: "text", text: "Go" }] } });
  event("model.requested", 4);
  event("assistant.text", 5, { text: "I look." });
  event("tool.called", 5, { call: "c1", name: "kv", arguments: {} });
  event("tool.completed", 7, { call: "c1", name: "kv", text: "120" });
  event("model.requested", 8);
  const agent = run.agents.get("root")!;
  const first = requestOf(record(4, "effect_intended", { settings: "a", tools: "b" }), agent)!;
  assert.deepEqual([first.known, first.fresh.map((item) => item.kind), first.changed], [0, ["message"], []]);
  const second = requestOf(record(8, "effect_intended", { tools: "c" }), agent)!;
  assert.deepEqual([second.known, second.fresh.map((item) => item.kind), second.changed], [1, ["text", "call"], ["tools"]]);
  event("tool.called", 9, { call: "c2", name: "kv", arguments: {} });
  event("model.requested", 10);
  event("tool.completed", 11, { call: "c2", name: "kv", text: "late" });
  event("model.requested", 12);
  const late = requestOf(record(12, "effect_intended", {}), agent)!;
  assert.deepEqual(late.fresh.map((item) => item.seq), [9], "its result came after the request before");
  assert.equal(requestOf(record(6, "effect_intended", { kind: "tool" }), agent), undefined);
});

const step = (kind: string, name: string, text: string): Step => ({ kind, name, text });

test("two runs are aligned: what is the same, what differs, what only one has", () => {
  const first = [step("message", "user", "Go"), step("answer", "m", "A"), step("result", "kv", "1"), step("answer", "m", "End")];
  const second = [step("message", "user", "Go"), step("answer", "m", "A"), step("result", "kv", "2"), step("result", "http", "x"), step("answer", "m", "End")];
  assert.deepEqual(align(first, second).map((pair) => pair.kind), ["same", "same", "changed", "second", "same"]);
  assert.deepEqual(align(second, first).map((pair) => pair.kind), ["same", "same", "changed", "first", "same"]);
  assert.deepEqual(align([], first).map((pair) => pair.kind), ["second", "second", "second", "second"]);
  assert.deepEqual(align(first, first).every((pair) => pair.kind === "same"), true);
});

test("an alignment has every step of both runs once, in order", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 200; round++) {
    const make = () => Array.from({ length: random(9) }, () => step(["answer", "result"][random(2)]!, ["a", "b"][random(2)]!, String(random(3))));
    const [first, second] = [make(), make()];
    const pairs = align(first, second);
    assert.deepEqual(pairs.flatMap((pair) => pair.first ?? []), first);
    assert.deepEqual(pairs.flatMap((pair) => pair.second ?? []), second);
  }
});

test("runs of 20,000 steps are aligned without a table of all pairs", () => {
  const long = (text: string) => Array.from({ length: 20_000 }, (_, at) => step("answer", "m", text + at));
  assert.equal(align(long("a"), long("b")).length, 20_000);
});

test("a transcript becomes steps", () => {
  const items = [
    { type: "turn", turn: "t1" },
    { type: "message", source: "user", role: "user", content: [{ type: "text", text: "Go" }] },
    { type: "answer", model: "m", content: [{ type: "text", text: "I look." }, { type: "call", tool: "kv", arguments: { op: "get" } }] },
    { type: "result", tool: "kv", text: "120", duration_ms: 4 },
  ];
  assert.deepEqual(stepsOf(items), [step("message", "user", "Go"), step("answer", "m", 'I look.\nkv {"op":"get"}'), { ...step("result", "kv", "120"), ms: 4 }]);
});

test("the words that differ are between the common beginning and end", () => {
  assert.deepEqual(pieces("it is 120 now", "it is 7 now"), [
    { text: "it is ", in: "both" }, { text: "120", in: "first" }, { text: "7", in: "second" }, { text: " now", in: "both" },
  ]);
  assert.deepEqual(pieces("same", "same"), [{ text: "same", in: "both" }]);
});

test("branches are below the run that they come from, in order of the record", () => {
  const branch = (id: string, from: string | null, at: number, created_at = id): Branch => ({ id, from, at, title: "", model: "m", status: "completed", created_at, records: 1, tokens: 0, cost_usd: null });
  const rows = branchRows([branch("c", "a", 9, "1"), branch("b", "a", 4, "2"), branch("a", null, 0), branch("d", "b", 2), branch("e", "gone", 1)]);
  assert.deepEqual(rows.map((row) => `${row.depth} ${row.branch.id}`), ["0 a", "1 b", "2 d", "1 c", "0 e"]);
});

test("the change of a file is shown as lines, an image only if a browser may draw it", () => {
  const edits = [{ old: "a\nb\nc\n", replacement: "a\nx\nc\n" }, { old: "d", replacement: "" }];
  assert.deepEqual(changeOf("edit", { path: "f", edits }), ["f", " a", "-b", "+x", " c", "@@", "-d", "+"]);
  assert.deepEqual(changeOf("file_write", { path: "f", content: "1\n2\n" }), ["f: the whole file", "+1", "+2"]);
  assert.equal(changeOf("edit", { path: "f", edits: "no" }), undefined);
  assert.equal(changeOf("kv", { path: "f", content: "1" }), undefined);
  assert.equal(imageOf({ type: "image", mime: "image/png", data: "AAAA" }), "data:image/png;base64,AAAA");
  for (const part of [{ mime: "image/svg+xml", data: "AAAA" }, { mime: "image/png", data: '"><x' }, { mime: "image/png" }]) assert.equal(imageOf({ type: "image", ...part }), undefined);
});

test("a run is played as fast as wanted, but waits are cut short", () => {
  const at = (ms: number) => ({ event: "x", session: "s", depth: 0, seq: 1, step: 1, time: new Date(ms).toISOString() });
  assert.deepEqual([pauseBetween(at(0), at(1000), 4), pauseBetween(at(0), at(3_600_000), 64), pauseBetween(at(0), at(1), 64)], [250, 1500, 40]);
});

test("a request can be sent again with other instructions, a summary cannot", () => {
  const request = record(4, "effect_intended", { effect: "e1" });
  const [instructions] = editablesOf(request, undefined, "Be kind.");
  assert.deepEqual(instructions, { what: "instructions", label: "The instructions", text: "Be kind.", isJson: false });
  assert.deepEqual(forkBody(request, instructions!, "Be brief.", "p:m", 0), { seq: 3, instructions: "Be brief.", continue: true, model: "p:m" });
  assert.deepEqual(editablesOf(request), [], "they are not known");
  for (const body of [{ kind: "tool" }, { summary: {} }, { consult: {} }]) assert.deepEqual(editablesOf(record(4, "effect_intended", body), undefined, "x"), []);
});

test("a version of a call says only what is other than it was", () => {
  const message = record(3, "message_appended", { source: "user", message: { content: [{ type: "text", text: "Go" }] } });
  const input = inputOf(message);
  assert.deepEqual(input, { label: "Message", text: "Go" });
  assert.deepEqual(inputOf(record(3, "effect_settled", { effect: "e0", result: { text: "120" } })), { label: "Result of the tool", text: "120" });
  for (const other of [undefined, record(3, "effect_settled", { response: { content: [{ type: "text", text: "x" }] } }), record(3, "decided", {})]) assert.equal(inputOf(other), undefined);
  const of = { seq: 4, instructions: "Be kind.", input };
  const same = { instructions: "Be kind.", input: "Go", model: " ", usd: "" };
  assert.deepEqual(attemptBody(of, same), { seq: 3, continue: true, once: true });
  const other = { instructions: "Be brief.", input: "Stop", model: "p:m", usd: "0.5" };
  assert.deepEqual(attemptBody(of, other), { seq: 3, continue: true, once: true, instructions: "Be brief.", edit: { text: "Stop" }, model: "p:m", limits: { max_usd: 0.5 } });
});

test("the outcome of a call is its text, calls, price and time, or its error", () => {
  const content = [{ type: "text", text: "I look." }, { type: "tool_call", name: "kv", arguments: '{"op":"get"}' }];
  const settled = record(9, "effect_settled", { response: { model: "m", content, usage: { total: 12, cost_usd: 0.5 } } });
  assert.deepEqual(attemptOf(settled, record(4, "effect_intended", {})), { text: "I look.", calls: [{ tool: "kv", args: '{"op":"get"}' }], error: "", model: "m", tokens: 12, cost: 0.5, ms: 5 });
  assert.equal(attemptOf(record(9, "effect_settled", { error: { message: "the key is wrong" } }), undefined).error, "the key is wrong");
});

test("a run in a file answers what its view asks, and nothing else", () => {
  const records = [1, 2, 3].map((seq) => record(seq, "turn_started", {}));
  const event = { event: "turn.started", session: "r", depth: 0, seq: 2, step: 1, time: "", id: "7.0" };
  const answer = answersOf({ run_id: "r", events: [event], records: { r: records } });
  const path = { id: "r" };
  assert.deepEqual(answer("GET /api/v1/runs/{id}/history", { path, query: { limit: 5 } }), { run_id: "r", events: [event], agents: [], has_earlier: false, last_event_id: "7.0" });
  assert.deepEqual((answer("GET /api/v1/runs/{id}/history", { path, query: { before: "7.0" } }) as { events: object[] }).events, []);
  assert.deepEqual(answer("GET /api/v1/runs/{id}/records", { path, query: { from: 2, limit: 1 } }), { records: [records[1]], total: 3 });
  assert.deepEqual(answer("GET /api/v1/runs/{id}/records", { path: { id: "other" } }), { records: [], total: 0 });
  assert.throws(() => answer("POST /api/v1/runs/{id}/fork", { path }), /a server would know/);
});

// The client of AG-UI against `praxis serve`: it checks the order of the events itself.
import assert from "node:assert/strict";
import { HttpAgent, buildResumeArray } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";

const [url, token] = process.argv.slice(2);
let threads = 0;
const open = (agent, threadId = `thread-${Date.now()}-${threads++}`) =>
  new HttpAgent({ url: `${url}/api/agui/${agent}`, threadId, headers: { Authorization: `Bearer ${token}` } });

let states; // that the client had in the last run
/** Runs the agent and returns the types of its events. */
async function run(agent, input = {}) {
  const events = [];
  states = [];
  await agent.runAgent(input, {
    onEvent: ({ event }) => void events.push(event),
    onStateChanged: ({ state }) => void states.push(structuredClone(state)),
  });
  for (const event of events) EventSchemas.parse(event);
  return events;
}
const types = (events) => events.map((event) => event.type).filter((type, i, all) => type !== all[i - 1]);
const say = (agent, content) => agent.addMessage({ id: `u-${content}`, role: "user", content });
const last = (agent) => agent.messages.at(-1).content;

const think = open("think");
say(think, "Hi");
assert.deepEqual(types(await run(think)), [
  "RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STATE_DELTA",
  "STEP_FINISHED", "STATE_SNAPSHOT", "RUN_FINISHED",
]);
assert.equal(last(think), "Hello there.");
assert.equal(think.state.status, "completed");
// The client applies the deltas itself.
assert.ok(states.some((state) => state.status === "running" && state.model_calls === 1));
say(think, "And?");
await run(think);
assert.equal(last(think), "Two.");

// Another client, which has only the id of the thread, gets the messages.
const other = open("think", think.threadId);
await run(other);
assert.deepEqual(other.messages.filter((m) => m.role === "user").map((m) => m.id), ["u-Hi", "u-And?"]);
assert.equal(last(other), "Two.");

// Interrupts of the agent itself and of a sub-agent, and their answers.
for (const [name, answer] of [["put", "Done."], ["lead", "Led."]]) {
  const agent = open(name);
  say(agent, "Go");
  const asked = await run(agent);
  const { outcome } = asked.at(-1);
  assert.equal(outcome.type, "interrupt");
  const [interrupt] = agent.pendingInterrupts;
  assert.equal(interrupt.metadata.tool, "kv");
  assert.equal(Boolean(interrupt.subagentRunId), name === "lead");
  const resume = buildResumeArray(agent.pendingInterrupts, { [interrupt.id]: { status: "resolved", payload: { approved: true } } });
  const done = await run(agent, { resume });
  assert.equal(done.at(-1).outcome.type, "success");
  assert.equal(last(agent), answer);
  assert.equal(agent.pendingInterrupts.length, 0);
  assert.ok(agent.messages.some((m) => m.role === "tool" && m.toolCallId === interrupt.toolCallId));
  if (name === "lead") assert.ok(asked.some((e) => e.type === "SUBAGENT_STARTED" && e.name) && done.some((e) => e.type === "SUBAGENT_FINISHED"));
}
const refused = open("put");
say(refused, "Go");
await run(refused);
await run(refused, { resume: [{ interruptId: refused.pendingInterrupts[0].id, status: "cancelled" }] });
assert.equal(last(refused), "Done.");

const missing = open("nobody");
say(missing, "Hi");
console.error = () => undefined;  // the client reports the error there too
await assert.rejects(run(missing), /404/);
console.log("@ag-ui/client: text, reasoning, steps, state, messages, sub-agents, interrupts and their answers");

// The C interface from Node.js: a tool in JavaScript, which a thread of the library calls, an approval, the events of the run,
// its answer, and handles that are closed. Arguments: the shared library, a file for the model.
import assert from 'node:assert/strict';
import koffi from 'koffi';

const library = koffi.load(process.argv[2]);
const Tool = koffi.proto('int Tool(void *user, uint64_t call, const char *arguments)');
const Text = koffi.disposable('Text', 'str', library.func('void praxis_free(void *text)'));
const version = library.func('uint32_t praxis_abi_version()');
const lastError = library.func('const char *praxis_last_error()');
const openRuntime = library.func('int praxis_runtime_open(const char *options, _Out_ uint64_t *out)');
const createAgent = library.func('int praxis_agent_create(uint64_t runtime, const char *description, _Out_ uint64_t *out)');
const addTool = library.func('int praxis_agent_add_tool(uint64_t agent, const char *definition, Tool *f, void *user, void *release)');
const callReturn = library.func('int praxis_call_return(uint64_t call, const char *value)');
const agentRun = library.func('int praxis_agent_run(uint64_t agent, const char *prompt, const char *options, _Out_ uint64_t *out)');
const resume = library.func('int praxis_session_resume(uint64_t session, const char *decisions, _Out_ uint64_t *out)');
const runNext = library.func('int praxis_run_next(uint64_t run, int64_t timeout, _Out_ Text *out)');
const runResult = library.func('int praxis_run_result(uint64_t run, int64_t timeout, _Out_ Text *out)');
const close = library.func('int praxis_close(uint64_t handle)');

const [kOk, kInput, kEnd, kBadHandle] = [0, 7, 10, 11];
const checked = (status) => assert.equal(status, kOk, lastError());
// A function that waits must not hold the thread on which JavaScript runs, because the tool needs it.
const waiting = (func, ...args) =>
  new Promise((resolve, reject) => func.async(...args, (error, status) => (error ? reject(error) : resolve(status))));
const made = (func, ...args) => {
  const out = [0n];
  checked(func(...args, out));
  return out[0];
};
const text = async (func, run) => {
  const out = [null];
  const status = await waiting(func, run, -1, out);
  return { status, json: status === kOk ? JSON.parse(out[0]) : null };
};

assert.equal(version(), 1);
const runtime = made(openRuntime, null);
const agent = made(createAgent, runtime, JSON.stringify({ id: 'weather', model: `script:${process.argv[3]}` }));
let calls = 0;
const tool = koffi.register((_user, call, given) => {
  calls += 1;
  assert.deepEqual(JSON.parse(given), { city: 'Paris' });
  return callReturn(call, JSON.stringify({ sky: 'sunny' }));
}, koffi.pointer(Tool));
checked(
  addTool(
    agent,
    JSON.stringify({
      name: 'look_up',
      description: 'Current weather',
      needs_approval: true,
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    }),
    tool,
    null,
    null,
  ),
);

const run = made(agentRun, agent, 'Do I need an umbrella in Paris?', null);
const parked = await text(runResult, run);
assert.equal(parked.json.status, 'awaiting_user', JSON.stringify(parked));
assert.equal(calls, 0);
const rest = made(resume, run, JSON.stringify({ p1: { decision: 'allow' } }));
const events = [];
for (let next = await text(runNext, rest); next.status !== kEnd; next = await text(runNext, rest)) {
  assert.equal(next.status, kOk, lastError());
  events.push(next.json.event);
}
assert.ok(events.includes('tool.completed') && events.includes('assistant.text'), events.join(' '));
const ended = await text(runResult, rest);
assert.equal(ended.json.result, 'No.', JSON.stringify(ended.json));
assert.equal(calls, 1);

assert.equal(createAgent(runtime, '{"modle": 1}', [0n]), kInput);
assert.match(JSON.parse(lastError()).message, /modle/);
assert.equal(await waiting(close, runtime), kOk);
assert.equal(runResult(rest, -1n, [null]), kBadHandle);
koffi.unregister(tool);
console.log('koffi in Node.js: a tool, an approval, events, the answer and wrong handles, over the C interface');

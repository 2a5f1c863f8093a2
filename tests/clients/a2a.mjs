// The client of A2A against `praxis serve`, over both bindings: cards, whole and streamed, an approval, a context, lists,
// cancelling, push notifications, and what is refused.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Role, StreamResponse, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

const [url, token] = process.argv.slice(2);
const withToken = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers });
};

let messages = 0;
const message = (text, more = {}) => ({
  tenant: "",
  message: {
    messageId: `m${++messages}`, contextId: "", taskId: "", role: Role.ROLE_USER, metadata: undefined, extensions: [],
    referenceTaskIds: [], parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }], ...more,
  },
  configuration: undefined, metadata: undefined,
});
const byId = (task) => ({ tenant: "", id: task.id, metadata: undefined });
const text = (task) => task.artifacts.flatMap((artifact) => artifact.parts).map((part) => part.content.value).join("");
const refused = (promise, reason) => assert.rejects(promise, (error) => (assert.equal(error.reason, reason), true));

const received = [];
const receiver = createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => (body += piece));
  request.on("end", () => {
    received.push({ headers: request.headers, body: StreamResponse.fromJSON(JSON.parse(body)) });
    response.end();
  });
});
await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const receivedOf = (task, state) => new Promise((resolve) => {
  const look = () => (received.some(({ body: { payload } }) => (payload.value.taskId ?? payload.value.id) === task && payload.value.status?.state === state) ? resolve() : setTimeout(look, 5));
  look();
});

const open = await new DefaultAgentCardResolver().resolve(url);
assert.deepEqual(open.supportedInterfaces.map((each) => each.protocolBinding), ["JSONRPC", "HTTP+JSON"]);
assert.ok(!JSON.stringify(open).includes("weather"), "without a token the card names no agent");

for (const Transport of [JsonRpcTransportFactory, RestTransportFactory]) {
  const factory = new ClientFactory({
    transports: [new Transport({ fetchImpl: withToken })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: withToken }),
  });
  const client = (agent) => factory.createFromUrl(`${url}/a2a/${agent}/`);
  const everyone = await (await factory.createFromUrl(url)).getAgentCard();
  assert.ok(everyone.skills.some((skill) => skill.id === "weather"), "the extended card lists the agents");

  const think = await client("think");
  const first = await think.sendMessage(message("Hi"));
  assert.equal(first.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal(text(first), "Hello there.");
  const second = await think.sendMessage(message("And?", { contextId: first.contextId }));
  assert.deepEqual([second.contextId, text(second)], [first.contextId, "Two."]);
  await refused(think.sendMessage(message("More", { taskId: first.id })), "UNSUPPORTED_OPERATION");
  assert.equal(text(await think.getTask({ tenant: "", id: first.id })), "Hello there.");
  const list = await think.listTasks({ tenant: "", contextId: first.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "", statusTimestampAfter: undefined });
  assert.deepEqual(list.tasks.map((task) => task.id), [second.id, first.id]);

  let streamed = "", kinds = [], state;
  for await (const { payload } of (await client("chat")).sendMessageStream(message("Hi"))) {
    kinds.push(payload.$case);
    if (payload.$case === "artifactUpdate") streamed = (payload.value.append ? streamed : "") + payload.value.artifact.parts[0].content.value;
    state = payload.value.status?.state ?? state;
  }
  assert.deepEqual([kinds[0], kinds.at(-1), streamed, state], ["task", "statusUpdate", "Hello there.", TaskState.TASK_STATE_COMPLETED]);

  const put = await client("put");
  const asked = await put.sendMessage(message("Store it"));
  assert.equal(asked.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const { steps } = asked.status.message.parts.at(-1).content.value;
  assert.deepEqual([steps[0].tool, steps[0].arguments.value], ["kv", "v"]);
  const stored = await put.sendMessage(message("allow", { taskId: asked.id, contextId: asked.contextId }));
  assert.deepEqual([stored.status.state, text(stored)], [TaskState.TASK_STATE_COMPLETED, "Done."]);

  const slow = await client("slow");
  const begun = await slow.sendMessage({ ...message("Wait"), configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true } });
  assert.equal(begun.status.state, TaskState.TASK_STATE_WORKING);
  const states = [];
  for await (const { payload } of slow.resubscribeTask({ tenant: "", id: begun.id })) {
    states.push(payload.value.status.state);
    if (states.length === 1) assert.equal((await slow.cancelTask(byId(begun))).status.state, TaskState.TASK_STATE_CANCELED);
  }
  assert.deepEqual(states, [TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_CANCELED]);
  await refused(slow.cancelTask(byId(begun)), "TASK_NOT_CANCELABLE");

  const watched = await slow.sendMessage({ ...message("Wait"), configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true } });
  const address = `http://127.0.0.1:${receiver.address().port}/${Transport.name}`;
  const config = await slow.createTaskPushNotificationConfig({ tenant: "", id: "", taskId: watched.id, url: address, token: "word", authentication: { scheme: "Bearer", credentials: "pass" } });
  const named = { tenant: "", taskId: watched.id, id: config.id };
  assert.equal((await slow.getTaskPushNotificationConfig(named)).url, address);
  assert.deepEqual((await slow.listTaskPushNotificationConfig({ tenant: "", taskId: watched.id, pageSize: 0, pageToken: "" })).configs.map((each) => each.id), [config.id]);
  await receivedOf(watched.id, TaskState.TASK_STATE_WORKING);
  await slow.cancelTask(byId(watched));
  await receivedOf(watched.id, TaskState.TASK_STATE_CANCELED);
  assert.ok(received.every(({ headers }) => headers.authorization === "Bearer pass" && headers["x-a2a-notification-token"] === "word"));
  await slow.deleteTaskPushNotificationConfig(named);
  await refused(slow.getTask({ tenant: "", id: "x~t1" }), "TASK_NOT_FOUND");
}
receiver.close();
console.log("a2a: cards, whole, streamed, contexts, approvals, lists, cancelling, push notifications and refusals are as its client expects, in both bindings");

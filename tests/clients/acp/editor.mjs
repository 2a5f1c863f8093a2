// The official client of the Agent Client Protocol against `praxis acp`. Every message of the agent has to be valid
// by the schema that the client's package publishes.
// Usage: node editor.mjs PRAXIS FOLDER
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import * as acp from "@agentclientprotocol/sdk";
import Ajv from "ajv/dist/2020.js";

const [praxis, folder] = process.argv.slice(2);
const { agent: ask, client: asked } = acp.methods;

// ---- the schema
const entry = createRequire(import.meta.url).resolve.paths("x")
  .map((path) => join(path, "@agentclientprotocol/sdk/schema/v1/schema.json"))
  .find((path) => { try { return readFileSync(path); } catch { return false; } });
const schema = JSON.parse(readFileSync(entry, "utf8"));
const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(schema, "acp");
const results = {};  // method: definition
const params = {};
for (const [name, definition] of Object.entries(schema.$defs)) {
  const method = definition["x-method"];
  if (!method) continue;
  if (name.endsWith("Response")) results[method] = name;
  else params[method] = name;
}
let seen = 0;
const pending = new Map();  // method by id, of our requests
function check(definition, value) {
  const validate = ajv.getSchema(`acp#/$defs/${definition}`);
  assert.ok(validate(value), `${definition}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}
function checkMessage(message) {
  seen += 1;
  assert.equal(message.jsonrpc, "2.0");
  if (message.method) return check(params[message.method], message.params);
  if (message.error) return check("Error", message.error);
  check(results[pending.get(message.id)], message.result);
}

// ---- the agent, with a look at every message
function start(agent) {
  const process = spawn(praxis, ["acp", agent], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const { readable, writable } = acp.ndJsonStream(Writable.toWeb(process.stdin), Readable.toWeb(process.stdout));
  const look = (use) => new TransformStream({ transform: (message, out) => { use(message); out.enqueue(message); } });
  const out = look((message) => { if (message.method && message.id !== undefined) pending.set(message.id, message.method); });
  out.readable.pipeTo(writable).catch(() => undefined);
  const updates = [];
  const questions = [];
  const buffers = new Map();  // texts that are not saved, by path
  let choice = "allow_once";
  const app = acp.client({ name: "check" })
    .onNotification(asked.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(asked.fs.readTextFile, ({ params }) => {
      if (!buffers.has(params.path)) throw acp.RequestError.resourceNotFound(params.path);
      return { content: buffers.get(params.path) };
    })
    .onRequest(asked.fs.writeTextFile, ({ params }) => { buffers.set(params.path, params.content); return {}; })
    .onRequest(asked.session.requestPermission, ({ params }) => {
      questions.push(params);
      const option = params.options.find(({ kind }) => kind === choice);
      return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
    });
  const connection = app.connect({ readable: readable.pipeThrough(look(checkMessage)), writable: out.writable });
  return {
    process, updates, questions, connection, buffers,
    request: (method, request) => connection.agent.request(method, request),
    choose: (kind) => { choice = kind; },
    text: (kind = "agent_message_chunk") =>
      updates.filter((update) => update.sessionUpdate === kind).map((update) => update.content.text).join(""),
    async open(clientCapabilities = {}) {
      const info = await this.request(ask.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
      assert.equal(info.protocolVersion, 1);
      return info;
    },
    async begin() { return this.request(ask.session.new, { cwd: folder, mcpServers: [] }); },
    say(sessionId, ...prompt) {
      return this.request(ask.session.prompt, { sessionId, prompt: prompt.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)) });
    },
    async end() {
      process.stdin.end();
      if (process.exitCode === null) await once(process, "exit");
    },
  };
}

const first = start("think");
const { agentCapabilities } = await first.open();
assert.ok(agentCapabilities.loadSession && agentCapabilities.promptCapabilities.image);
const { sessionId, modes, configOptions } = await first.begin();
assert.equal(modes.currentModeId, "think");
assert.ok(configOptions.some(({ category }) => category === "model"));
const image = { type: "image", mimeType: "image/png", data: Buffer.from("not looked at").toString("base64") };
const { stopReason } = await first.say(sessionId, "Hi", { type: "resource", resource: { uri: "file:///a.md", text: "a" } }, image);
assert.equal(stopReason, "end_turn");
assert.equal(first.text(), "Hello there.");
assert.equal(first.text("agent_thought_chunk"), "Why not?");
await first.say(sessionId, "And?");
assert.equal(first.text(), "Hello there.Two.");

await first.request(ask.session.setMode, { sessionId, modeId: "chat" });
assert.ok(first.updates.some((update) => update.sessionUpdate === "config_option_update"));
const { configOptions: options } = await first.request(ask.session.setConfigOption, { sessionId, configId: "mode", value: "think" });
assert.equal(options.find(({ id }) => id === "mode").currentValue, "think");
const { sessions } = await first.request(ask.session.list, { cwd: folder });
assert.ok(sessions.some((session) => session.sessionId === sessionId && session.title.startsWith("Hi")));
await first.request(ask.session.close, { sessionId });
await assert.rejects(first.say(sessionId, "Gone"), /not open/);
await assert.rejects(first.request("no/method", {}), /no method|not found/i);

// Permission: no, yes, and a diff.
writeFileSync(join(folder, "note.txt"), "old\n");
const writer = start("write");
await writer.open();
writer.choose("reject_once");
await writer.say((await writer.begin()).sessionId, "Write");
assert.equal(readFileSync(join(folder, "note.txt"), "utf8"), "old\n");
writer.choose("allow_once");
await writer.say((await writer.begin()).sessionId, "Write");
assert.equal(readFileSync(join(folder, "note.txt"), "utf8"), "new\n");
const [, { toolCall }] = writer.questions;
assert.equal(toolCall.kind, "edit");
assert.deepEqual(toolCall.content.filter(({ type }) => type === "diff").map(({ oldText, newText }) => [oldText, newText]), [["old\n", "new\n"]]);
const ends = writer.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update").map(({ status }) => status);
assert.deepEqual(ends, ["failed", "in_progress", "completed"]);

// The editor's file, which it has not saved.
const holder = start("write");
await holder.open({ fs: { readTextFile: true, writeTextFile: true } });
const note = join(folder, "note.txt");
holder.buffers.set(note, "not saved\n");
writeFileSync(note, "old\n");
await holder.say((await holder.begin()).sessionId, "Write");
assert.equal(holder.buffers.get(note), "new\n");
assert.equal(readFileSync(note, "utf8"), "old\n");

// Cancel, while the model works.
const slow = start("slow");
await slow.open();
const waiting = await slow.begin();
const turn = slow.say(waiting.sessionId, "Work");
await slow.connection.agent.notify(ask.session.cancel, { sessionId: waiting.sessionId });
assert.equal((await turn).stopReason, "cancelled");

// Another process loads what the first one has closed, and sees the whole conversation.
const second = start("think");
await second.open();
await second.request(ask.session.load, { sessionId, cwd: folder, mcpServers: [] });
assert.equal(second.text(), "Hello there.Two.");
assert.match(second.text("user_message_chunk"), /^Hi/);
await second.say(sessionId, "Third?");
assert.match(second.text(), /Three\.$/);

for (const each of [first, writer, holder, slow, second]) await each.end();
console.log(`@agentclientprotocol/sdk, an editor: sessions, modes, permission, diffs, files, cancelling, loading; ${seen} valid messages`);
process.exit(0);

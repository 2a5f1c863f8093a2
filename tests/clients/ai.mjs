// The AI SDK against the chat of `praxis serve`: its transport checks each chunk by its own schema.
import assert from "node:assert/strict";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream } from "ai";

const [url, token] = process.argv.slice(2);
const api = `${url}/api/ai/chat`;
const transport = (agent) => new DefaultChatTransport({ api, headers: { Authorization: `Bearer ${token}` }, body: { agent } });
const user = (text) => ({ id: `u-${text}`, role: "user", parts: [{ type: "text", text }] });
let chats = 0;
const newChat = () => `chat-${Date.now()}-${chats++}`;

/** Sends the messages and returns the message that the SDK makes of the answer, and its chunks. */
async function ask(agent, chatId, messages, { trigger = "submit-message", reconnects = false } = {}) {
  const chunks = [];
  let stream = reconnects
    ? await transport(agent).reconnectToStream({ chatId })
    : await transport(agent).sendMessages({ trigger, chatId, messageId: undefined, messages, abortSignal: undefined });
  if (stream === null) return null;
  stream = stream.pipeThrough(new TransformStream({ transform(chunk, controller) { chunks.push(chunk); controller.enqueue(chunk); } }));
  const before = messages.at(-1).role === "assistant" ? structuredClone(messages.at(-1)) : undefined;
  let message, failure;
  for await (const each of readUIMessageStream({ stream, message: before, terminateOnError: false, onError: (error) => (failure = error) })) message = each;
  return { message, chunks, failure };
}
const text = ({ message }) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");

const chat = newChat();
const first = await ask("think", chat, [user("Hi")]);
assert.equal(text(first), "Hello there.");
assert.equal(first.message.parts.find((part) => part.type === "reasoning").text, "Why not?");
assert.ok(first.message.parts.every((part) => part.state === undefined || part.state === "done"));
assert.equal(first.chunks.at(-1).finishReason, "stop");
assert.ok(first.message.metadata.usage.output > 0);
const second = await ask("think", chat, [user("Hi"), first.message, user("And?")]);
assert.equal(text(second), "Two.");
assert.equal(second.message.metadata.run, first.message.metadata.run);
const again = await ask("think", chat, [user("Hi"), first.message, user("And?")], { trigger: "regenerate-message" });
assert.equal(text(again), "Three.");
assert.equal(await ask("think", chat, [user("Hi")], { reconnects: true }), null);

// Approvals, of the agent itself and of a sub-agent.
for (const [agent, answer] of [["put", "Done."], ["lead", "Led."]]) {
  const id = newChat();
  const waits = await ask(agent, id, [user("Go")]);
  const asks = waits.message.parts.find((part) => part.state === "approval-requested");
  assert.equal(asks.toolName, "kv");
  asks.state = "approval-responded";
  asks.approval = { ...asks.approval, approved: true };
  assert.ok(lastAssistantMessageIsCompleteWithApprovalResponses({ messages: [waits.message] }) || agent === "lead");
  const done = await ask(agent, id, [user("Go"), waits.message]);
  assert.ok(text(done).endsWith(answer), text(done));
  assert.equal(done.message.id, waits.message.id);
  assert.equal(done.message.parts.find((part) => part.toolCallId === asks.toolCallId).state, "output-available");
  const below = done.message.parts.filter((part) => part.type === "data-agent");
  assert.equal(below.length, agent === "lead" ? 1 : 0);
  if (agent === "lead") assert.equal(below[0].data.status, "finished");
}

// A client that is gone, and another one that resumes its chat.
const slow = newChat();
const gone = new AbortController();
const stream = await transport("later").sendMessages({ trigger: "submit-message", chatId: slow, messages: [user("Hi")], abortSignal: gone.signal });
const reader = stream.getReader();
assert.equal((await reader.read()).value.type, "start");
gone.abort();
await reader.read().catch(() => undefined);
const resumed = await ask("later", slow, [user("Hi")], { reconnects: true });
assert.equal(text(resumed), "At last.");
assert.equal(await ask("later", slow, [user("Hi")], { reconnects: true }), null);

await assert.rejects(ask("nobody", newChat(), [user("Hi")]), /nobody/);
console.log("ai: chat, reasoning, regenerated answers, approvals, sub-agents, and a chat that another client resumes");

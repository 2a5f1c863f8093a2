// OpenAI's own client against the Conversations of `praxis serve`, and its agents with a session there.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";

const [url, token] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
const { conversations, responses } = client;

const made = await conversations.create({
  items: [{ role: "user", content: "What is it?" }, { type: "message", role: "assistant", content: "A cat." }],
  metadata: { topic: "cats" },
});
assert.deepEqual([made.object, made.metadata], ["conversation", { topic: "cats" }]);
assert.deepEqual(await conversations.retrieve(made.id), made);
assert.deepEqual((await conversations.update(made.id, { metadata: { k: "v" } })).metadata, { k: "v" });

const texts = async (id, query = { order: "asc" }) => {
  const all = [];
  for await (const item of conversations.items.list(id, query)) all.push(item.content?.[0].text ?? item.type);
  return all;
};
const one = await responses.create({ model: "chat", input: "Hi", conversation: made.id });
assert.deepEqual([one.output_text, one.conversation.id], ["Hello there.", made.id]);
const two = await responses.stream({ model: "chat", input: "And?", conversation: { id: made.id } }).finalResponse();
assert.equal(two.conversation.id, made.id);
const whole = ["What is it?", "A cat.", "Hi", "Hello there.", "And?", "Hello there."];
assert.deepEqual(await texts(made.id), whole);
assert.deepEqual(await texts(made.id, { limit: 2, include: ["reasoning.encrypted_content"] }), whole.toReversed());

const added = await conversations.items.create(made.id, { items: [{ role: "user", content: "It is black." }] });
assert.equal(added.data.length, 1);
const item = await conversations.items.retrieve(added.first_id, { conversation_id: made.id });
assert.deepEqual([item.type, item.role, item.content[0].text], ["message", "user", "It is black."]);
assert.equal((await conversations.items.delete(item.id, { conversation_id: made.id })).id, made.id);
await assert.rejects(conversations.items.retrieve(item.id, { conversation_id: made.id }), OpenAI.NotFoundError);

const works = await responses.create({ model: "slow", input: "Hi", conversation: made.id, background: true });
await assert.rejects(responses.create({ model: "chat", input: "Hi", conversation: made.id }), OpenAI.ConflictError);
await responses.cancel(works.id);
await assert.rejects(
  responses.create({ model: "chat", input: "Hi", conversation: made.id, previous_response_id: one.id }),
  (error) => error instanceof OpenAI.BadRequestError && error.param === "previous_response_id",
);
assert.equal((await conversations.delete(made.id)).deleted, true);
await assert.rejects(conversations.retrieve(made.id), OpenAI.NotFoundError);
await assert.rejects(conversations.retrieve("conv_unknown"), OpenAI.NotFoundError);
console.log("openai: conversations with items, metadata, pages, responses and deletion");

setTracingDisabled(true);
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }) });
const agent = new Agent({ name: "outer", instructions: "Be kind.", model: "chat" });
const { id } = await conversations.create();
assert.equal((await runner.run(agent, "Hi", { conversationId: id })).finalOutput, "Hello there.");
assert.equal((await runner.run(agent, "And?", { conversationId: id })).finalOutput, "Hello there.");
assert.deepEqual(await texts(id), ["Hi", "Hello there.", "And?", "Hello there."]);
const session = new OpenAIConversationsSession({ client });
assert.equal((await runner.run(agent, "Hi", { session })).finalOutput, "Hello there.");
assert.equal((await runner.run(agent, "And?", { session })).finalOutput, "Hello there.");
assert.deepEqual((await session.getItems()).length, 4);
await session.popItem();
assert.deepEqual((await session.getItems()).length, 3);
await session.clearSession();
console.log("@openai/agents: turns by conversation id, and a session of conversations");

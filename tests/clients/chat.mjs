// OpenAI's own client against the Chat Completions of `praxis serve`: whole, streamed, structured, wrong.
import assert from "node:assert/strict";
import OpenAI from "openai";

const [url, token] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
const messages = [{ role: "user", content: "Hi" }];

const models = [];
for await (const model of client.models.list()) models.push(model.id);
assert.deepEqual(models, ["ask", "chat", "json", "later", "lead", "put", "slow", "think", "weather"]);
assert.equal((await client.models.retrieve("chat")).id, "chat");

const whole = await client.chat.completions.create({ model: "chat", messages });
assert.equal(whole.choices[0].message.content, "Hello there.");
assert.equal(whole.choices[0].finish_reason, "stop");
assert.ok(whole.usage.total_tokens > 0);
assert.match(whole.id, /^chatcmpl-/);

const stream = await client.chat.completions.create({
  model: "chat", stream: true, stream_options: { include_usage: true },
  messages: [{ role: "system", content: "Be short." }, ...messages, { role: "assistant", content: "Yes?" }, { role: "user", content: "Hi again" }],
});
let text = "", finish, usage, roles = 0;
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta.content ?? "";
  roles += chunk.choices[0]?.delta.role === "assistant" ? 1 : 0;
  finish ??= chunk.choices[0]?.finish_reason;
  usage ??= chunk.usage;
}
assert.deepEqual([text, finish, roles], ["Hello there.", "stop", 1]);
assert.ok(usage.total_tokens > 0);

// The client's own accumulator accepts the chunks.
const helper = client.chat.completions.stream({ model: "chat", messages });
assert.equal(await helper.finalContent(), "Hello there.");

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const structured = await client.chat.completions.create({
  model: "json", messages, response_format: { type: "json_schema", json_schema: { name: "n", schema } },
});
assert.deepEqual(JSON.parse(structured.choices[0].message.content), { n: 7 });

// A tool of the client: the answer has the call, and the next request its result.
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
for (const stream of [false, true]) {
  const cities = [];
  const weather = ({ city }) => { cities.push(city); return `Warm in ${city}`; };
  const runner = client.chat.completions.runTools({
    model: "weather", messages, stream,
    tools: [{ type: "function", function: { name: "weather", description: "Tells the weather", parameters, parse: JSON.parse, function: weather } }],
  });
  assert.equal(await runner.finalContent(), "Warm.");
  assert.deepEqual(cities, ["Paris"]);
}

await assert.rejects(client.chat.completions.create({ model: "nobody", messages }), OpenAI.NotFoundError);
await assert.rejects(client.chat.completions.create({ model: "chat", messages: [] }), (error) => error instanceof OpenAI.BadRequestError && error.param === "messages");
await assert.rejects(client.chat.completions.create({ model: "ask", messages }), OpenAI.ConflictError);
await assert.rejects(new OpenAI({ baseURL: `${url}/v1`, apiKey: "wrong", maxRetries: 0 }).models.list(), OpenAI.AuthenticationError);
console.log("openai: models, whole, streamed, structured, with tools of the client, and wrong requests are as its client expects");

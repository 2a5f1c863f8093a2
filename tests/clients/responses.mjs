// OpenAI's own clients against the Responses of `praxis serve`: whole, streamed, in the background, retrieved,
// cancelled, decided; and its agents on top.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";

const [url, token] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
const { responses } = client;

const whole = await responses.create({ model: "chat", input: "Hi", instructions: "Be short.", metadata: { k: "v" } });
assert.deepEqual([whole.status, whole.output_text, whole.metadata.k], ["completed", "Hello there.", "v"]);
assert.ok(whole.usage.total_tokens > 0);
assert.deepEqual(await responses.retrieve(whole.id), whole);
const items = [];
for await (const item of responses.inputItems.list(whole.id, { limit: 1 })) items.push(item.content[0].text);
assert.deepEqual(items, ["Hi"]);

const next = await responses.create({ previous_response_id: whole.id, instructions: "Be short.", input: [{ role: "user", content: "And?" }] });
assert.deepEqual([next.output_text, next.previous_response_id], ["Hello there.", whole.id]);

// The client's own accumulator accepts the events, and it catches up.
const helper = responses.stream({ model: "chat", input: "Hi" });
const numbers = [];
helper.on("event", (event) => numbers.push(event.sequence_number));
const final = await helper.finalResponse();
assert.equal(final.output_text, "Hello there.");
assert.deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
const middle = numbers[Math.floor(numbers.length / 2)];
const rest = [];
for await (const event of await responses.retrieve(final.id, { stream: true, starting_after: middle })) rest.push(event);
assert.ok(rest.every((event) => event.sequence_number > middle));
assert.deepEqual([rest.at(-1).type, rest.at(-1).response.id], ["response.completed", final.id]);
assert.equal((await responses.stream({ response_id: final.id, starting_after: middle }).finalResponse()).output_text, "Hello there.");

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false };
const parsed = await responses.parse({ model: "json", input: "Hi", text: { format: { type: "json_schema", name: "n", schema, strict: true } } });
assert.deepEqual(parsed.output_parsed, { n: 7 });

const background = await responses.create({ model: "slow", input: "Hi", background: true });
assert.ok(["queued", "in_progress"].includes(background.status));
assert.equal((await responses.cancel(background.id)).status, "cancelled");
assert.equal((await responses.retrieve(background.id)).status, "cancelled");

const waits = await responses.create({ model: "put", input: "Hi" });
const request = waits.output.at(-1);
assert.deepEqual([waits.status, request.type, request.name], ["completed", "mcp_approval_request", "kv"]);
const decided = responses.stream({
  previous_response_id: waits.id,
  input: [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }],
});
const done = await decided.finalResponse();
assert.deepEqual(done.output.map((item) => item.type), ["mcp_call", "message"]);
assert.equal(done.output_text, "Done.");

await responses.delete(whole.id).then(assert.fail, (error) => assert.ok(error instanceof OpenAI.ConflictError));
await responses.delete(final.id);
await assert.rejects(responses.retrieve(final.id), OpenAI.NotFoundError);
await assert.rejects(responses.create({ model: "nobody", input: "Hi" }), OpenAI.NotFoundError);
await assert.rejects(responses.create({ model: "chat", input: "Hi", temperature: 1 }), (error) => error instanceof OpenAI.BadRequestError && error.param === "temperature");
console.log("openai: responses whole, streamed, caught up, in the background, cancelled, decided, deleted");

setTracingDisabled(true);
const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }) });
const agent = new Agent({ name: "outer", instructions: "Be kind.", model: "chat" });
const first = await runner.run(agent, "Hi");
assert.equal(first.finalOutput, "Hello there.");
const again = await runner.run(agent, "And?", { previousResponseId: first.lastResponseId });
assert.equal(again.finalOutput, "Hello there.");
const history = await runner.run(agent, first.history.concat({ role: "user", content: "More?" }));
assert.equal(history.finalOutput, "Hello there.");
const streamed = await runner.run(agent, "Hi", { stream: true });
let text = "";
for await (const piece of streamed.toTextStream()) text += piece;
await streamed.completed;
assert.equal(text, "Hello there.");
const cities = [];
const weather = tool({
  name: "weather", description: "Tells the weather", parameters: z.object({ city: z.string() }),
  execute: ({ city }) => { cities.push(city); return `Warm in ${city}`; },
});
const withTools = await runner.run(new Agent({ name: "outer", model: "weather", tools: [weather] }), "Hi");
assert.deepEqual([withTools.finalOutput, cities], ["Warm.", ["Paris"]]);
console.log("@openai/agents: tools of the client, turns, previous responses, histories and streams over the same");

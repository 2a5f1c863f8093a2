// The official client of the Model Context Protocol against `praxis mcp serve`.
// Usage: node serve.mjs PRAXIS
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "check", version: "1" });
const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: process.env.XDG_CONFIG_HOME, XDG_STATE_HOME: process.env.XDG_STATE_HOME };
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp", "serve", "chat", "nap"], env }));
assert.equal(client.getServerVersion().name, "praxis");

const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["chat", "nap"]);

const progress = [];
const result = await client.callTool({ name: "chat", arguments: { prompt: "Hi" } }, undefined, {
  onprogress: (update) => progress.push(update.message),
});
assert.equal(result.content[0].text, "Hello there.");
assert.match(result.structuredContent.run, /^[0-9A-Z]{26}$/);
assert.ok(progress.includes("step 1"), `progress: ${progress}`);

const corrected = await client.callTool({ name: "chat", arguments: {} });
assert.ok(corrected.isError);
assert.match(corrected.content[0].text, /prompt/);
await assert.rejects(client.callTool({ name: "nobody", arguments: { prompt: "Hi" } }), /no tool/);

const uri = "praxis://runs/" + result.structuredContent.run;
const { resources } = await client.listResources();
assert.ok(resources.some((each) => each.uri === uri && each.title === "Hi"), "the run is listed");
assert.match((await client.readResource({ uri })).contents[0].text, /Hello there\./);
assert.equal((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, "praxis://runs/{id}");
await assert.rejects(client.readResource({ uri: "praxis://runs/none" }), (error) => error.code === -32002);
assert.deepEqual((await client.listPrompts()).prompts, []);
await assert.rejects(client.getPrompt({ name: "none" }), /no prompt/);

const stop = new AbortController();
await assert.rejects(
  client.callTool({ name: "nap", arguments: { prompt: "Sleep" } }, undefined, {
    signal: stop.signal,
    onprogress: () => stop.abort("enough"),
  }),
  /enough/,
);
await client.ping();
await client.close();
console.log("@modelcontextprotocol/sdk, a client: lists and calls agents, with progress and cancellation");

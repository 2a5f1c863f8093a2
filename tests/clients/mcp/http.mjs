// The official clients of the Model Context Protocol against `/mcp` of `praxis serve`: version 1 of the SDK with a handshake,
// version 2 without one.
// Usage: node http.mjs URL TOKEN
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as next from "@modelcontextprotocol/client";

const [url, token] = process.argv.slice(2);
const address = new URL("/mcp", url);
const headers = { Authorization: `Bearer ${token}` };
const prompt = { prompt: "Hi" };

async function statusOf(run) {
  const answer = await fetch(new URL(`/api/v1/runs/${run}`, url), { headers });
  return (await answer.json()).status;
}
async function newestOf(agent) {
  const answer = await fetch(new URL("/api/v1/runs", url), { headers });
  return (await answer.json()).runs.find((run) => run.agent === agent).id;
}

async function check(client, call) {
  assert.equal(client.getServerVersion().name, "praxis");
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  for (const name of ["chat", "nap"]) assert.ok(names.includes(name), `tools: ${names}`);

  const progress = [];
  const result = await call("chat", prompt, { onprogress: (update) => progress.push(update.message) });
  assert.equal(result.content[0].text, "Hello there.");
  assert.ok(progress.includes("step 1"), `progress: ${progress}`);
  const corrected = await call("chat", {});
  assert.ok(corrected.isError);
  assert.match(corrected.content[0].text, /prompt/);
  await assert.rejects(call("nobody", prompt), /no tool/);

  const uri = "praxis://runs/" + result.structuredContent.run;
  assert.ok((await client.listResources()).resources.some((each) => each.uri === uri), "the run is listed");
  assert.match((await client.readResource({ uri })).contents[0].text, /Hello there\./);
  await assert.rejects(client.readResource({ uri: "praxis://runs/none" }), /no resource/);
  assert.deepEqual((await client.listPrompts()).prompts, []);

  const stop = new AbortController();
  const options = { signal: stop.signal, onprogress: () => stop.abort("enough") };
  await assert.rejects(call("nap", prompt, options), /enough/);
  const run = await newestOf("nap");
  while ((await statusOf(run)) === "running") await new Promise((soon) => setTimeout(soon, 20));
  assert.equal(await statusOf(run), "cancelled");
}

const old = new Client({ name: "check", version: "1" });
const transport = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
await old.connect(transport);
assert.match(transport.sessionId, /^[0-9a-f]{32}$/);
await check(old, (name, given, options) => old.callTool({ name, arguments: given }, undefined, options));
await transport.terminateSession();
await assert.rejects(old.ping());
await old.close();
console.log("@modelcontextprotocol/sdk 1, a client over HTTP: a session, progress, cancellation");

const stateless = new next.Client(
  { name: "check", version: "2" },
  { versionNegotiation: { mode: { pin: "2026-07-28" } } },
);
await stateless.connect(new next.StreamableHTTPClientTransport(address, { requestInit: { headers } }));
await check(stateless, (name, given, options) => stateless.callTool({ name, arguments: given }, options));
await stateless.close();
console.log("@modelcontextprotocol/client 2 over HTTP: version 2026-07-28, progress, cancellation");

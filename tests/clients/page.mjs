// The page of examples/http: its script, with the few parts of a browser that it uses, against `praxis serve`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [url, token] = process.argv.slice(2);
const page = readFileSync("examples/http/page.html", "utf8");
const script = page.match(/<script type="module">\n([^]*)<\/script>/)[1].replace("http://localhost:7717", url);
assert.ok(script.includes(url) && page.split("\n").length <= 31);

const elements = { token: { value: token }, agent: { value: "chat" }, prompt: { value: "Hi" }, go: {}, out: {} };
for (const id of Object.keys(elements)) assert.ok(page.includes(`id="${id}"`), id);
globalThis.document = { getElementById: (id) => elements[id] };
await import("data:text/javascript," + encodeURIComponent(script));

await elements.go.onclick();
assert.equal(elements.out.textContent, "Hello there.");
elements.agent.value = "no-such-agent";
await elements.go.onclick();
assert.match(elements.out.textContent, /no-such-agent/);
console.log("examples/http/page.html: shows the answer as it comes, and why there is none");

// The WebSocket of Node.js, which is that of browsers, against the event streams of `praxis serve`.
import assert from "node:assert/strict";

const [url, token] = process.argv.slice(2);
if (!globalThis.WebSocket) {
  console.log("WebSocket: skipped, this Node.js has none");
  process.exit(0);
}
const headers = { Authorization: `Bearer ${token}` };
const word = (text) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/// The messages up to the one that `isLast` accepts.
function messages(path, isLast, secret = token) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace(/^http/, "ws") + path, ["praxis.v1", `praxis.token.${word(secret)}`]);
    const all = [];
    socket.onerror = () => reject(new Error("refused"));
    socket.onmessage = ({ data }) => {
      all.push(JSON.parse(data));
      if (isLast(all.at(-1))) socket.close(1000, "enough");
    };
    socket.onclose = ({ code }) => resolve({ all, code, protocol: socket.protocol });
  });
}

const made = await fetch(`${url}/api/v1/runs`, { method: "POST", headers, body: JSON.stringify({ agent: "chat", prompt: "Hi" }) });
const { id } = await made.json();
const path = `/api/v1/runs/${id}/events`;
const ends = (message) => message.event === "turn.completed";
const live = await messages(path, ends);
assert.equal(live.protocol, "praxis.v1");
assert.equal(live.code, 1000);
const whole = (await messages(path, ends)).all.filter((message) => message.id);
assert.deepEqual(live.all.filter((message) => message.id), whole);
const middle = whole[Math.floor(whole.length / 2)];
const rest = await messages(`${path}?after=${middle.id}`, ends);
assert.deepEqual(rest.all, whole.slice(whole.indexOf(middle) + 1));
assert.ok(live.all.some((message) => message.event === "assistant.text" && message.data.text === "Hello there."));

const design = await messages("/agent/stream?agent=chat&prompt=Hi", () => false);
assert.equal(design.code, 1000);
const text = design.all.filter((chunk) => chunk.type === "text-delta").map((chunk) => chunk.textDelta).join("");
assert.equal(text, "Hello there.");
await assert.rejects(messages(path, ends, "not a token of this server"));
console.log(`WebSocket of Node.js ${process.versions.node}: events, coming back, chunks of the fifth design, a wrong token`);

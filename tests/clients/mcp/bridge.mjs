// Puts `praxis mcp serve`, which speaks on standard input and output, behind HTTP for the conformance suite: each
// POST is one message, its answer the line with the same id.
// Usage: node bridge.mjs PRAXIS AGENT... (prints the port)
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const [praxis, ...agents] = process.argv.slice(2);
const server = spawn(praxis, ["mcp", "serve", ...agents], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();  // answers by id
let last = 0;
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  const asked = waiting.get(message.id);
  if (message.method || !asked) return;
  waiting.delete(message.id);
  asked({ ...message, id: asked.id });
});
createServer((request, response) => {
  let body = "";
  request.on("data", (piece) => { body += piece; });
  request.on("end", () => {
    if (request.method !== "POST") return response.writeHead(405).end();
    const message = JSON.parse(body);
    if (message.id === undefined || !message.method) {
      server.stdin.write(`${JSON.stringify(message)}\n`);
      return response.writeHead(202).end();
    }
    const answer = (text) => {
      const isStateless = message.params?._meta || message.method === "server/discover";
      const status = text.error && isStateless ? (text.error.code === -32601 ? 404 : 400) : 200;
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(text));
    };
    last += 1;
    answer.id = message.id;  // clients of this bridge choose the same ids
    waiting.set(last, answer);
    server.stdin.write(`${JSON.stringify({ ...message, id: last })}\n`);
  });
}).listen(0, "127.0.0.1", function ready() { console.log(this.address().port); });
process.on("SIGTERM", () => { server.kill(); process.exit(0); });

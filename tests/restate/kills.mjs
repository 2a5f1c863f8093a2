// Agents at a server of Restate. In each round the worker, the server or both are killed with SIGKILL at a moment of the run,
// in every fourth round also while it waits for a person. Each run must end, with each effect counted once outside: a call in
// doubt waits for a person, who here looks at the count.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { mkdtempSync, mkdirSync, writeFileSync, rmSync } from "node:fs";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nameOf } from "./identity_key.mjs";

const [praxis, restate, roundsWanted] = process.argv.slice(2);
const token = "token-of-the-restate-check";
const place = mkdtempSync(join(tmpdir(), "praxis-restate-"));
writeFileSync(join(place, "token"), `${token}\n`, { mode: 0o600 });
const living = new Set();
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- the effects, counted outside

const counts = new Map();
const counter = createServer((request, response) => {
  counts.set(request.url, (counts.get(request.url) ?? 0) + 1);
  setTimeout(() => response.end("counted"), 40);
});

function freePort() {
  return new Promise((done) => {
    const socket = createSocket();
    socket.listen(0, "127.0.0.1", () => {
      const { port } = socket.address();
      socket.close(() => done(port));
    });
  });
}

// ---- processes

function start(program, args, env) {
  const child = spawn(program, args, { cwd: place, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  child.log = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (child.log += bytes));
  child.ended = new Promise((done) => child.on("exit", done));
  living.add(child);
  child.ended.then(() => living.delete(child));
  return child;
}

async function kill(child) {
  child.kill("SIGKILL");
  await child.ended;
}

async function until(what, limit, ready) {
  for (const end = Date.now() + limit; Date.now() < end; await pause(25)) {
    const value = await ready();
    if (value) return value;
  }
  throw new Error(`after ${limit / 1000} s: ${what}`);
}

// The server signs its requests with a key of this check, and the worker takes no others.
const keys = generateKeyPairSync("ed25519");
writeFileSync(join(place, "identity.pem"), keys.privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });

const ports = {};
for (const name of ["fabric", "ingress", "admin", "serve", "listen"]) ports[name] = await freePort();
await new Promise((done) => counter.listen(0, "127.0.0.1", done));

async function startRestate() {
  const child = start(restate, ["--no-logo"], {
    RESTATE_DISABLE_TELEMETRY: "true",
    RESTATE_WORKER__INVOKER__REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: join(place, "identity.pem"),
    RESTATE_LISTEN_MODE: "tcp",
    RESTATE_BIND_IP: "127.0.0.1",
    RESTATE_BIND_PORT: String(ports.fabric),
    RESTATE_INGRESS__BIND_PORT: String(ports.ingress),
    RESTATE_ADMIN__BIND_PORT: String(ports.admin),
    RESTATE_DEFAULT_NUM_PARTITIONS: "2",
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "256MB",
  });
  await until(`Restate does not answer:\n${child.log}`, 60_000, () =>
    fetch(`http://127.0.0.1:${ports.admin}/health`).then((answer) => answer.ok, () => false));
  return child;
}

async function startWorker(key = nameOf(keys.publicKey)) {
  // Registering may find a server that has just begun: a supervisor tries again.
  for (let tries = 0; ; ++tries) {
    const child = start(praxis, ["serve", "--engine-identity-key", key, "--port", String(ports.serve), "--journal", "runs.db", "--token-file", "token",
      "--engine", "restate", "--engine-listen", `127.0.0.1:${ports.listen}`,
      "--engine-ingress", `http://127.0.0.1:${ports.ingress}`, "--engine-admin", `http://127.0.0.1:${ports.admin}`], {
      XDG_CONFIG_HOME: join(place, "config"), XDG_STATE_HOME: join(place, "state") });
    const serves = await until("praxis neither serves nor ends", 60_000, () =>
      child.exitCode !== null ? "ended" : child.log.includes("serving on") && "serves");
    if (serves === "serves") return child;
    if (tries === 20 || child.log.includes("401")) throw new Error(child.log);
    await pause(500);
  }
}

async function api(method, path, body) {
  const answer = await fetch(`http://127.0.0.1:${ports.serve}${path}`, {
    method, headers: { authorization: `Bearer ${token}` }, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text);
}

// ---- agents

const step = (n, run) => JSON.stringify({ delay_ms: 150, tool_calls: [{ name: "http",
  arguments: { method: "POST", url: `http://localhost:${counter.address().port}/${run}/${n}` } }] });
function agent(run) {
  const folder = join(place, "config/praxis/agents");
  mkdirSync(folder, { recursive: true });
  const script = join(place, `${run}.jsonl`);
  writeFileSync(script, [1, 2, 3].map((n) => step(n, run)).join("\n") +
    `\n${JSON.stringify({ tool_calls: [{ name: "kv", arguments: { op: "put", key: "k", value: "v" } }] })}` +
    `\n${JSON.stringify({ delay_ms: 100, text: "Done." })}\n`);
  writeFileSync(join(folder, `${run}.toml`), `model = "script:${script}"\n[tools.kv]\n[tools.http]\n` +
    `allow = ["localhost:${counter.address().port}"]\n[policy]\nallow = ["http"]\nask = ["kv"]\n`);
}

/// Decides what waits: looks at the count of a call in doubt, allows the approval.
async function decide(id) {
  for (const waiting of (await api("GET", "/api/v1/pending")).pending.filter((each) => each.run === id)) {
    const url = waiting.arguments?.url;
    const isDone = url !== undefined && counts.has(new URL(url).pathname);
    await api("POST", `/api/v1/runs/${id}/steps/${waiting.id.split("/")[1]}`,
      isDone ? { decision: "answer", text: "counted" } : { decision: "allow" });
  }
}

// ---- rounds

let server = await startRestate(), worker = await startWorker();
const kinds = ["worker", "server", "both"];

async function strike(kind) {
  if (kind !== "server") await kill(worker);
  if (kind !== "worker") await kill(server);
  if (kind !== "worker") server = await startRestate();
  if (kind !== "server") worker = await startWorker();
}

async function round(number) {
  const run = `r${number}`, kind = kinds[number % kinds.length];
  agent(run);
  const { id } = await api("POST", "/api/v1/runs", { agent: run, prompt: "Go" });
  await pause((number * 137) % 900);  // another moment of the run in each round
  await strike(kind);
  let again = number % 4 === 3;
  await until(`run ${id} (${kind} killed) does not end`, 120_000, async () => {
    const shown = await api("GET", `/api/v1/runs/${id}`);
    if (shown.status === "awaiting_user" && again) {
      again = false;
      await strike(kinds[(number + 1) % kinds.length]);
      return false;
    }
    if (shown.status === "awaiting_user") await decide(id);
    return shown.status === "completed";
  });
  checkCounts(id, run, `${kind} killed`);
}

function checkCounts(id, run, what) {
  for (const n of [1, 2, 3]) {
    const count = counts.get(`/${run}/${n}`) ?? 0;
    if (count !== 1) throw new Error(`run ${id} (${what}): effect ${n} was counted ${count} times`);
  }
}

/// The machine with the journal is gone: another one with an empty journal continues the run from what Restate holds.
async function lostJournal() {
  agent("lost");
  const { id } = await api("POST", "/api/v1/runs", { agent: "lost", prompt: "Go" });
  await until("no effect", 60_000, () => counts.has("/lost/2"));
  await kill(worker);
  for (const end of ["", "-wal", "-shm", ".head", ".owners"]) rmSync(join(place, `runs.db${end}`), { force: true });
  worker = await startWorker();
  await until(`run ${id} does not end with an empty journal`, 120_000, async () => {
    const shown = await api("GET", `/api/v1/runs/${id}`).catch(() => ({}));
    if (shown.status === "awaiting_user") await decide(id);
    return shown.status === "completed";
  });
  checkCounts(id, "lost", "journal lost");
  const replay = await api("POST", `/api/v1/runs/${id}/replay`);
  if (!JSON.stringify(replay).includes('"identical":true')) throw new Error(`replay: ${JSON.stringify(replay)}`);
}

/// The operator of Restate cancels the invocation: the run ends as one that was interrupted.
async function cancelled() {
  const script = join(place, "slow.jsonl");
  writeFileSync(script, JSON.stringify({ delay_ms: 600_000, text: "At last." }) + "\n");
  writeFileSync(join(place, "config/praxis/agents/slow.toml"), `model = "script:${script}"\n`);
  const { id } = await api("POST", "/api/v1/runs", { agent: "slow", prompt: "Go" });
  const query = `select id from sys_invocation where target_service_key = '${id}' and target_handler_name = 'run' and status != 'completed'`;
  const answer = await fetch(`http://127.0.0.1:${ports.admin}/query`, { method: "POST", body: JSON.stringify({ query }),
    headers: { accept: "application/json", "content-type": "application/json" } });
  for (const { id: invocation } of (await answer.json()).rows)
    await fetch(`http://127.0.0.1:${ports.admin}/invocations/${invocation}/cancel`, { method: "PATCH" });
  await until(`run ${id} is not cancelled`, 120_000, async () =>
    (await api("GET", `/api/v1/runs/${id}`)).status === "cancelled");
}

/// The server has a key that the worker knows. What others send, and a server with another key, is refused.
async function identity() {
  const url = `http://127.0.0.1:${ports.listen}/restate/1/`, secret = (await readFile(join(place, "state/praxis/engine-token"), "utf8")).trim();
  for (const path of ["discover", "invoke/praxis/run"]) {
    const answer = await fetch(url + path, { method: "POST", headers: { authorization: `Bearer ${secret}` } });
    const text = await answer.text();
    if (answer.status !== 401 || !text.includes("not signed")) throw new Error(`unsigned ${path}: ${answer.status} ${text}`);
  }
  await kill(worker);
  const other = await startWorker(nameOf(generateKeyPairSync("ed25519").publicKey)).then(() => "it serves", (error) => error.message);
  if (!other.includes("not of a key that this process knows")) throw new Error(`another key: ${other}`);
  worker = await startWorker();
}

let status = 0;
try {
  await identity();
  console.log("restate: requests that the server did not sign are refused");
  const rounds = Number(roundsWanted);
  for (let number = 0; number < rounds; ++number) await round(number);
  await cancelled();
  console.log("restate: a run was cancelled from there");
  await lostJournal();
  console.log(`restate: a run continued with an empty journal, each effect counted once`);
  console.log(`restate: ${rounds} runs ended after kills of worker and server, each effect counted once`);
} catch (error) {
  console.error(error.message, "\nworker:", worker.log, "\nserver:", server.log.slice(-3000));
  status = 1;
}
for (const child of living) child.kill("SIGKILL");
counter.close();
rmSync(place, { recursive: true, force: true });
process.exit(status);

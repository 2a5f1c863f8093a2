// What the journeys share: a real server on a real journal, a model that answers slowly, a browser, and a client of
// the API that says what really happened.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = new URL(".", import.meta.url).pathname;
const require = createRequire(join(here, "../../web/package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

export const token = "token-of-the-page-check";
export const words = Array.from({ length: 400 }, (_, at) => `word${at}.`);

/** Waits until `look` returns something, and returns it. */
export async function until(look, what, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The page shows that the last turn of the run ended with its answer. */
export const isOver = (page) => page.locator(".conversation .note.good").filter({ hasText: "Turn completed" }).last().waitFor();

/** Answers from a folder that `scripts/build-page` wrote what is code or style of the page; without one, the program does. */
async function takeFrom(page, folder) {
  if (folder === undefined) return;
  const types = { js: "text/javascript", css: "text/css" };
  await page.route((url) => url.pathname === "/" || url.pathname.startsWith("/assets/"), async (route) => {
    const { pathname } = new URL(route.request().url());
    const body = readFileSync(join(folder, pathname === "/" ? "index.html" : pathname));
    await route.fulfill({ contentType: types[pathname.split(".").at(-1)] ?? "text/html; charset=utf-8", body });
  });
}

/** A server of OpenAI's Chat Completions whose answer comes word by word. */
async function slowModel() {
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    request.resume().on("end", () => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      let at = 0;
      const send = (delta, finish_reason = null) =>
        response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "slow", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      const timer = setInterval(() => {
        if (at < words.length) return send({ content: words[at++] + " " });
        clearInterval(timer);
        send({}, "stop");
        response.end("data: [DONE]\n\n");
      }, 10);
      response.on("close", () => clearInterval(timer));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, close: () => { server.closeAllConnections(); server.close(); } };
}

export class Rig {
  static async start(praxis) {
    const rig = new Rig();
    // PRAXIS_PAGE_LEAVES=2000 makes the wide tree as large as the page has to take.
    rig.leaves = Number(process.env.PRAXIS_PAGE_LEAVES ?? 200);
    rig.torrent = { turns: 21, steps: 20, pieces: 50 }; // pieces in each step, as agents.mjs cuts its text
    rig.praxis = praxis;
    rig.place = mkdtempSync(join(tmpdir(), "praxis-page-"));
    rig.agents = join(rig.place, "config/praxis/agents");
    mkdirSync(rig.agents, { recursive: true });
    mkdirSync(join(rig.place, "bin"));
    writeFileSync(join(rig.place, "token"), token + "\n", { mode: 0o600 });
    // What the server opens instead of a browser keeps the address for the test.
    writeFileSync(join(rig.place, "bin/xdg-open"), `#!/bin/sh\nprintf %s "$1" > ${rig.place}/opening\nmv ${rig.place}/opening ${rig.place}/opened\n`);
    chmodSync(join(rig.place, "bin/xdg-open"), 0o755);
    rig.model = await slowModel();
    rig.port = 0;
    rig.journal = "runs.db";
    await rig.serve(["--open"]);
    const root = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    rig.browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: root });
    return rig;
  }

  /** An agent whose model is a script; or, without one, the slow model. */
  agent(name, script, settings = "") {
    if (script !== null) writeFileSync(join(this.place, name + ".jsonl"), script.map((line) => JSON.stringify(line)).join("\n") + "\n");
    const model = script === null ? "llamacpp:slow" : `script:${join(this.place, name + ".jsonl")}`;
    writeFileSync(join(this.agents, name + ".toml"), `model = "${model}"\n${settings}\n`);
  }

  get environment() {
    return {
      ...process.env,
      PATH: `${join(this.place, "bin")}:/usr/bin:/bin`,
      XDG_CONFIG_HOME: join(this.place, "config"),
      XDG_STATE_HOME: join(this.place, "state"),
      LLAMACPP_BASE_URL: `http://127.0.0.1:${this.model.port}/v1`,
    };
  }
  /** Another process of the same user, on the same files. */
  command(...words) {
    return execFileSync(this.praxis, words, { cwd: this.place, env: this.environment, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async serve(more = []) {
    const environment = this.environment;
    this.server = spawn(this.praxis, ["serve", "--port", String(this.port), "--journal", this.journal, "--token-file", "token", ...more], { cwd: this.place, env: environment, stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    this.server.stderr.on("data", (data) => (log += data));
    const line = await until(() => /serving on http:\/\/127\.0\.0\.1:(\d+)\n/.exec(log), "the server starts: " + log);
    this.port = Number(line[1]);
    this.url = `http://127.0.0.1:${this.port}`;
  }

  async kill() {
    const gone = new Promise((resolve) => this.server.on("exit", resolve));
    this.server.kill("SIGKILL");
    await gone;
  }

  async opened() {
    const file = join(this.place, "opened");
    await until(() => existsSync(file), "a browser is opened");
    return readFileSync(file, "utf8");
  }

  async api(path, body) {
    const request = { method: body === undefined ? "GET" : "POST", headers: { Authorization: "Bearer " + token }, body: body && JSON.stringify(body) };
    const answer = await fetch(`${this.url}/api/v1${path}`, request);
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
    return text.startsWith("{\"format\"") ? text.trim().split("\n").slice(1).map((line) => JSON.parse(line)) : JSON.parse(text);
  }
  /** All events of a run that a record holds. */
  async events(run) {
    const all = [];
    for (let page, before = ""; page === undefined || page.has_earlier; before = "&before=" + page.events[0].id) {
      page = await this.api(`/runs/${run}/history?limit=5000${before}`);
      all.unshift(...page.events);
    }
    return all;
  }
  async begin(agent, prompt = "Go") {
    return (await this.api("/runs", { agent, prompt })).id;
  }
  status(run, wanted) {
    return until(async () => (await this.api("/runs/" + run)).status === wanted, `run is ${wanted}`);
  }

  /** A tab, signed in unless `signedIn` is false. It records what must not happen. With `folder`, the page is the one built there. */
  async tab({ signedIn = true, folder, ...options } = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1300, height: 850 }, ...options });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    page.bad = [];
    page.asked = [];
    page.on("pageerror", (error) => page.bad.push("error: " + error.message));
    page.on("console", (message) => {
      // A server that was killed refuses connections, which the browser reports.
      if (message.type() === "error" && !/net::ERR_|status of 4\d\d/.test(message.text())) page.bad.push(message.text());
    });
    page.on("request", (request) => page.asked.push(request.url()));
    await context.addInitScript((kept) => {
      globalThis.violations = [];
      addEventListener("securitypolicyviolation", (event) => globalThis.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
      if (kept) sessionStorage.setItem("praxis-token", kept);
    }, signedIn ? token : "");
    await takeFrom(page, folder);
    if (signedIn) {
      await page.goto(this.url + "/");
      await page.locator(".connection.live").waitFor();
    }
    return page;
  }

  /** Nothing came from elsewhere, no policy was violated, nothing failed; then closes the tab. */
  async finish(page) {
    const homes = [this.url + "/", (page.home ?? this.url) + "/"];
    for (const url of page.asked) assert.ok(homes.some((home) => url.startsWith(home)) || url.startsWith("data:") || url.startsWith("blob:"), "asked for " + url);
    assert.ok(!page.asked.some((url) => url.includes(token)), "the token is in an address");
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
    assert.deepEqual(page.bad, []);
    await page.context().close();
  }

  async axe(page) {
    await page.evaluate(axe);
    const found = await page.evaluate(() => globalThis.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }));
    return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120) + " — " + (node.any[0]?.message ?? node.all[0]?.message ?? "")).join(" | ")}`);
  }

  async end() {
    await this.browser?.close();
    this.server?.kill("SIGKILL");
    this.model?.close();
    rmSync(this.place, { recursive: true, force: true });
  }
}

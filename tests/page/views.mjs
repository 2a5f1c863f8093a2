// Journeys through what is shown: signing in, runs, one run, time travel, usage.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isOver, token, until } from "./rig.mjs";

export function views(rig) {
  test("the opened browser is signed in once, and the code is gone", async () => {
    const address = await rig.opened();
    assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/#\/login\/[0-9a-f]{64}$/);
    const page = await rig.tab({ signedIn: false });
    await page.goto(address);
    await page.locator(".connection.live").waitFor();
    assert.equal(new URL(page.url()).hash, "#/runs");
    assert.equal(await page.evaluate(() => sessionStorage.getItem("praxis-token")), token);
    await rig.finish(page);
    const second = await rig.tab({ signedIn: false });
    await second.goto(address);
    await second.getByRole("alert").filter({ hasText: "the code was used" }).waitFor();
    await rig.finish(second);
  });

  test("a token is asked for, and a wrong one is refused", async () => {
    const page = await rig.tab({ signedIn: false });
    await page.goto(rig.url);
    const wrong = "wrong-token-of-the-check";
    // The answer to one request with the wrong token comes when the right one is there.
    let release;
    const signedIn = new Promise((resolve) => (release = resolve));
    const isLate = (request) => request.url().endsWith("/api/v1/pending") && request.headers().authorization === "Bearer " + wrong;
    await page.route("**/api/v1/pending", async (route) => {
      if (isLate(route.request())) await signedIn;
      await route.continue();
    });
    const late = page.waitForResponse((answer) => isLate(answer.request()));
    await page.getByLabel("Token of this server").fill(wrong);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("alert").filter({ hasText: "not one of this server" }).waitFor();
    await page.getByLabel("Token of this server").fill(token);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("link", { name: "Inbox" }).waitFor();
    release();
    assert.equal((await late).status(), 401);
    await (await late).finished();
    await page.goto(rig.url + "/#/settings");
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.getItem("praxis-token")), token);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token of this server").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await rig.finish(page);
  });

  test("a run is started with a form, and listed, searched and filtered", async () => {
    const page = await rig.tab();
    await page.getByRole("button", { name: "Start a run" }).click();
    const form = page.getByRole("dialog");
    await form.getByLabel("Agent").selectOption("chat");
    await form.getByLabel("What is it to do?").last().fill("Greet the reader of the page");
    await form.getByLabel("Steps").fill("7");
    await form.getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/#\/run\//);
    const run = page.url().split("/").at(-1);
    await rig.status(run, "completed");
    const records = await rig.api(`/runs/${run}/export`);
    assert.equal(records[0].body.agent.limits.max_steps, 7);
    await isOver(page);
    assert.equal(await page.locator(".answer strong").innerText(), "there");
    await rig.status(await rig.begin("fails", "Something else"), "error");
    await page.goto(rig.url + "/#/runs");
    const titles = page.locator("table.runs .title");
    await until(async () => (await titles.count()) === 2, "both are listed");
    await page.getByLabel("Search titles").fill("reader");
    await until(async () => (await titles.allInnerTexts()).join() === "Greet the reader of the page", "one is found");
    await page.getByLabel("Search titles").fill("");
    await page.getByLabel("Status").selectOption("error");
    await until(async () => (await titles.allInnerTexts()).join() === "Something else", "one has failed");
    await page.getByLabel("Status").selectOption("");
    await page.getByLabel("Agent").selectOption("chat");
    await until(async () => (await titles.count()) === 1, "one is of the agent");
    await page.getByLabel("Agent").selectOption("");
    const live = await rig.begin("ask", "Arrives while the list is open");
    await page.getByRole("row").filter({ hasText: "Arrives while" }).filter({ hasText: "waits for you" }).waitFor();
    await rig.api(`/runs/${live}/commands`, { commands: [{ verb: "interrupt" }] });
    await page.getByRole("row").filter({ hasText: "Arrives while" }).filter({ hasText: "cancelled" }).waitFor();
    await rig.finish(page);
  });

  test("a run shows its tree, conversation, records and timeline", async () => {
    const run = await rig.begin("lead", "Lead them");
    await until(async () => (await rig.api("/pending")).pending.some((step) => step.run === run), "a step waits");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const tree = page.getByRole("tree");
    await until(async () => (await tree.getByRole("treeitem").count()) === 3, "the tree has three agents");
    const nodes = (await rig.api(`/runs/${run}/tree`)).nodes;
    const facts = nodes.find((node) => node.content === "Find the number");
    await tree.getByRole("treeitem").filter({ hasText: "facts" }).click();
    await page.getByText("It is 120.").waitFor();
    assert.ok(page.url().endsWith(`/agent/${facts.id}`));
    const call = page.locator(".call").filter({ hasText: '"op":"get"' });
    await call.locator("summary").click();
    await call.locator("pre").filter({ hasText: "120" }).waitFor();
    await page.getByRole("button", { name: "Inspect record 3" }).click();
    const shown = JSON.parse(await page.getByLabel("The record as JSON").innerText());
    assert.deepEqual(shown, (await rig.api(`/runs/${facts.id}/export`))[2].body);
    // Bars that are too close to each other are drawn as one, so how many there are depends on how long it waits.
    const kinds = (lane) => lane.locator("i").evaluateAll((all) => [...new Set(all.map((bar) => bar.className.split(" ")[0]))].sort());
    const lanes = await page.locator(".lane").all();
    assert.deepEqual(await Promise.all(lanes.map(kinds)), [["model", "tool"], ["model", "tool"], ["model", "wait"]]);
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.locator(".waterfall header").getByText(" of ").waitFor();
    await page.locator(".lanes i.tool").first().click();
    await page.getByText("effect_intended").waitFor();
    await tree.getByRole("treeitem").filter({ hasText: "ask" }).first().click();
    await page.locator(".middle").getByRole("button", { name: "Allow", exact: true }).click();
    await rig.status(run, "completed");
    await tree.getByRole("treeitem").filter({ hasText: "lead" }).click();
    await page.getByText("All done.").waitFor();
    await page.locator(".call .child").filter({ hasText: "It is 120." }).waitFor();
    await rig.finish(page);
  });

  test("the run is shown as it was at any record, and forks there", async () => {
    const run = await rig.begin("chat", "First");
    await rig.status(run, "completed");
    await rig.api(`/runs/${run}/messages`, { prompt: "And second" });
    await until(async () => (await rig.api("/runs/" + run)).result === "Second answer.", "the second turn ends");
    const page = await rig.tab();
    const before = (await rig.api("/runs/" + run)).records;
    await page.goto(`${rig.url}/#/run/${run}/record/3`);
    await page.getByText("as it was at record 3").waitFor();
    const talk = page.getByRole("log");
    assert.equal(await talk.getByText("Second answer.").count(), 0);
    assert.equal(await talk.getByText("First", { exact: true }).count(), 1);
    const slider = page.getByLabel("Moment of the run");
    await slider.focus();
    await page.keyboard.press("End");
    await talk.getByText("Second answer.").waitFor();
    assert.equal(await page.getByText("as it was at record").count(), 0);
    await slider.evaluate((element) => element.blur());
    for (let step = 0; step < 30 && (await talk.getByText("Second answer.").count()) > 0; step++) await page.keyboard.press("[");
    assert.equal(await talk.getByText("Second answer.").count(), 0);
    assert.equal(await talk.getByText("And second").count(), 1);
    const at = Number(/record (\d+)/.exec(await page.locator(".banner").innerText())[1]);
    await page.getByRole("button", { name: "Fork from here" }).click();
    await page.waitForURL((url) => url.hash.startsWith("#/run/") && !url.hash.includes(run));
    const fork = page.url().split("/").at(-1);
    const [old, made] = [await rig.api(`/runs/${run}/export`), await rig.api(`/runs/${fork}/export`)];
    assert.equal(old.length, before);
    assert.deepEqual(made.slice(1, at).map((each) => each.body), old.slice(1, at).map((each) => each.body));
    assert.ok(!JSON.stringify(made).includes("Second answer."));
    await rig.finish(page);
  });

  test("usage is summed as the server does, and saved as CSV", async () => {
    await rig.status(await rig.begin("lead", "For usage"), "awaiting_user");
    const page = await rig.tab();
    await page.goto(rig.url + "/#/usage");
    const table = page.getByRole("region", { name: "By agent" });
    await table.getByRole("row").filter({ hasText: "lead" }).waitFor();
    const { rows } = await rig.api("/usage");
    const total = (agent) => rows.filter((row) => row.agent === agent).reduce((sum, row) => sum + row.usage.total, 0);
    const report = await rig.api("/usage");
    const chart = page.getByRole("img", { name: `Tokens by day from ${report.from} to ${report.until}` });
    assert.equal(await chart.locator("g").count(), (Date.parse(report.until) - Date.parse(report.from)) / 86_400_000 + 1);
    assert.ok(Number(await chart.locator("g").last().locator("rect.input").getAttribute("height")) > 0);
    await page.getByRole("button", { name: "Cost", exact: true }).click();
    await page.getByRole("img", { name: "Cost by day" }).waitFor();
    await page.getByRole("button", { name: "Tokens", exact: true }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("region", { name: "By agent" }).locator("xpath=preceding-sibling::header").getByRole("button").click();
    const lines = readFileSync(await (await saved).path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "agent,calls,input,output,cached,total,cost_usd");
    for (const agent of ["lead", "chat"]) assert.equal(Number(lines.find((line) => line.startsWith(agent + ",")).split(",")[5]), total(agent));
    await rig.finish(page);
  });

  test("how agents and tools did is what the server measures, and saved as CSV", async () => {
    await rig.status(await rig.begin("lead-alone", "For measures"), "completed");
    const page = await rig.tab();
    await page.goto(rig.url + "/#/usage");
    const agents = page.getByRole("region", { name: "How agents did" }).last();
    const { tables } = await rig.api("/stats?by=agent,tool");
    const cells = (region, name) => region.getByRole("row").filter({ has: page.getByRole("cell", { name, exact: true }) }).first().getByRole("cell").allInnerTexts();
    const lead = tables[0].rows.find((row) => row.name === "lead-alone");
    assert.ok(lead.turns > 0 && lead.steps > 1);
    await agents.getByRole("cell", { name: "lead-alone", exact: true }).waitFor();
    assert.deepEqual((await cells(agents, "lead-alone")).slice(0, 5), ["lead-alone", String(lead.turns), Math.round(lead.success_rate * 100) + " %", String(lead.steps), String(lead.model_calls.calls)]);
    const tools = page.getByRole("region", { name: "How tools did" }).last();
    const kv = tables[1].rows.find((row) => row.name === "kv");
    assert.deepEqual((await cells(tools, "kv")).slice(0, 3), ["kv", String(kv.tool_calls.calls), String(kv.tool_calls.errors)]);
    assert.equal(await page.getByRole("region", { name: "How tenants did" }).count(), 0, "without tenants there is no table of them");
    const saved = page.waitForEvent("download");
    await tools.locator("xpath=preceding-sibling::header").getByRole("button").click();
    const lines = readFileSync(await (await saved).path(), "utf8").trim().split("\r\n");
    assert.equal(lines[0], "tool,Calls,Failed,Retries,Median,95 %");
    assert.equal(Number(lines.find((line) => line.startsWith("kv,")).split(",")[1]), kv.tool_calls.calls);
    await rig.finish(page);
  });
}

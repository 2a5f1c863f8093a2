// What a reader needs who sees little, has no mouse, or a narrow screen; and how large the first load is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { until } from "./rig.mjs";

async function places(rig) {
  const lead = await rig.begin("lead", "A run with a tree");
  await until(async () => (await rig.api("/pending")).pending.some((step) => step.run === lead), "a step waits");
  const long = await rig.begin("chat", "A run that is over");
  await rig.status(long, "completed");
  const request = (await rig.api(`/runs/${long}/export`)).find((record) => record.kind === "effect_intended");
  return { runs: "#/runs", inbox: "#/inbox", usage: "#/usage", agents: "#/agents/ask", settings: "#/settings", prompts: "#/prompts/greet", memory: "#/memory", branches: "#/branches/" + long, compare: `#/compare/${long}/${lead}`, run: "#/run/" + lead, past: `#/run/${long}/record/4`, files: "#/files/" + long, doctor: "#/doctor", playground: `#/playground/${long}/${request.seq}` };
}

export function access(rig) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing in any view, ${colorScheme}`, async () => {
      const page = await rig.tab({ colorScheme, reducedMotion: "reduce" });
      const found = {};
      for (const [name, hash] of Object.entries(await places(rig))) {
        await page.goto(rig.url + "/" + hash);
        await page.locator("main td, main .inbox li, main .lanes i, main .call, main .verdict, main .agent, main .branches li, main .empty, main .change, main .version form").first().waitFor();
        if (name === "memory") await page.getByLabel("Search").fill("harbour");
        if (name === "memory") await page.locator(".notes .why").first().waitFor();
        if (name === "run") await page.getByRole("button", { name: "Inspect record 3" }).click();
        if (name === "run") await page.getByLabel("The record as JSON").waitFor();
        const violations = await rig.axe(page);
        if (violations.length > 0) found[name] = violations;
      }
      await page.goto(rig.url + "/#/runs");
      await page.getByRole("button", { name: "Start a run" }).click();
      await page.getByRole("dialog").getByLabel("Steps").waitFor();
      const form = await rig.axe(page);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Keys" }).click();
      const keys = await rig.axe(page);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Sign out" }).click();
      const login = await rig.axe(page);
      assert.deepEqual({ ...found, form, keys, login }, { form: [], keys: [], login: [] });
      await rig.finish(page);
    });
  }

  test("nothing is wider than a screen of 320 pixels", async () => {
    const page = await rig.tab({ viewport: { width: 320, height: 640 } });
    for (const [name, hash] of Object.entries(await places(rig))) {
      await page.goto(rig.url + "/" + hash);
      await page.locator("main").waitFor();
      for (const pane of name === "run" ? ["Agents", "Record", "Timeline", "Conversation"] : [""]) {
        if (pane !== "") await page.getByRole("tab", { name: pane }).click();
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(width <= 320, `${name} ${pane}: ${width}`);
      }
    }
    await rig.finish(page);
  });

  test("the tree is walked with the arrow keys", async () => {
    const page = await rig.tab();
    await page.goto(rig.url + "/" + (await places(rig)).run);
    await until(async () => (await page.getByRole("treeitem").count()) === 3, "the tree is there");
    await page.keyboard.press("t");
    await page.keyboard.press("ArrowDown");
    await until(async () => page.url().includes("/agent/"), "another agent is chosen");
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-posinset"));
    await until(async () => (await focused()) === "2", "the focus follows");
    await page.keyboard.press("Home");
    await until(async () => (await focused()) === "1", "the focus is on the first");
    await page.keyboard.press("ArrowLeft");
    await until(async () => (await page.getByRole("treeitem").count()) === 1, "what is below is hidden");
    await rig.finish(page);
  });

  test("the types of requests and answers are those that the server describes", async () => {
    const published = JSON.parse(readFileSync(new URL("../../share/praxis/openapi.json", import.meta.url), "utf8"));
    assert.deepEqual(await rig.api("/openapi.json"), published);
  });

  test("the first load is small, compressed and kept", async () => {
    const page = await rig.tab({ signedIn: false });
    const answers = [];
    page.on("response", (response) => answers.push(response));
    await page.goto(rig.url);
    await page.getByLabel("Token of this server").waitFor();
    let bytes = 0;
    for (const answer of answers) {
      if (!answer.url().startsWith(rig.url)) continue;
      const headers = await answer.allHeaders();
      assert.equal(headers["content-encoding"], "br", answer.url());
      if (answer.url().includes("/assets/")) assert.match(headers["cache-control"], /immutable/);
      bytes += Number(headers["content-length"]);
    }
    assert.ok(bytes > 5_000 && bytes <= 60 * 1024, `${bytes} bytes`);
    await rig.finish(page);
  });
}

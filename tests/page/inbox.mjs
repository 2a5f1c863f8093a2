// Journeys through the inbox: changes of files, rules, steps that are alike, forms, notifications.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./rig.mjs";

/** Ends everything that waits, so that a journey begins with an empty inbox. */
async function empty(rig) {
  for (const step of (await rig.api("/pending")).pending) await rig.api(`/runs/${step.run}/commands`, { commands: [{ verb: "interrupt" }] });
  await until(async () => (await rig.api("/pending")).pending.length === 0, "the inbox is empty");
}

async function waiting(rig, agent, prompt) {
  const run = await rig.begin(agent, prompt);
  await rig.status(run, "awaiting_user");
  return run;
}

async function inboxOf(rig, page) {
  await page.goto(rig.url + "/#/inbox");
  await page.locator(".inbox > li").first().waitFor();
  return (run) => page.locator(`.inbox > li[id*="${run}"]`);
}

export function inbox(rig) {
  test("an approval shows the change of the file, and edited arguments are checked while they are typed", async () => {
    await empty(rig);
    writeFileSync(join(rig.place, "files/notes.txt"), "one\ntwo\n");
    const run = await waiting(rig, "writes");
    const page = await rig.tab();
    const step = (await inboxOf(rig, page))(run);
    const diff = step.getByLabel("Change of the file");
    await diff.waitFor();
    assert.deepEqual((await diff.locator(".removed, .added").allInnerTexts()).map((line) => line.trim()), ["-two", "+three"]);
    await step.getByRole("button", { name: "Edit…" }).click();
    const field = step.getByRole("textbox");
    const wrong = step.getByRole("status", { name: "What is wrong" });
    await field.fill('{"path": 7}');
    await wrong.getByText("path").first().waitFor();
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    await field.fill(JSON.stringify({ path: join(rig.place, "files/notes.txt"), content: "one\nfour\n" }));
    await until(async () => (await wrong.locator("li").count()) === 0, "nothing is wrong");
    assert.equal(await field.getAttribute("aria-invalid"), "false");
    await step.getByRole("button", { name: "Run with these" }).click();
    await rig.status(run, "completed");
    assert.equal(readFileSync(join(rig.place, "files/notes.txt"), "utf8"), "one\nfour\n");
    await rig.finish(page);
  });

  test("always: the rule is shown, can be edited, and holds from then on", async () => {
    await empty(rig);
    const run = await waiting(rig, "ruled");
    const page = await rig.tab();
    const step = (await inboxOf(rig, page))(run);
    await step.getByRole("button", { name: "Always…" }).click();
    const rule = step.getByLabel("The rule, as JSON");
    assert.deepEqual(JSON.parse(await rule.inputValue()).arguments, { op: "put", key: "k", value: "ruled" });
    await step.getByText("ruled.toml").waitFor();
    const narrow = await rule.inputValue();
    await rule.fill('{"tool": "kv", "arguments": {"op": "list"}}');
    await step.getByRole("button", { name: "Save the rule and allow" }).click();
    await step.getByRole("alert").filter({ hasText: "would not allow this call" }).waitFor();
    await rule.fill(narrow);
    await step.getByRole("button", { name: "Save the rule and allow" }).click();
    await rig.status(run, "completed");
    await rig.status(await rig.begin("ruled"), "completed");
    await rig.finish(page);
  });

  test("steps that ask for the same are allowed at once", async () => {
    await empty(rig);
    const runs = [];
    for (let at = 0; at < 3; at++) runs.push(await waiting(rig, "ask"));
    const other = await waiting(rig, "question");
    const page = await rig.tab();
    await inboxOf(rig, page);
    await page.getByRole("button", { name: "Allow all 3" }).click();
    for (const run of runs) await rig.status(run, "completed");
    assert.equal((await rig.api("/runs/" + other)).status, "awaiting_user");
    await until(async () => (await page.locator(".inbox > li").count()) === 1, "one is left");
    await rig.finish(page);
  });

  test("a question with a schema is a form that says what is wrong while it is filled in", async () => {
    await empty(rig);
    const run = await waiting(rig, "question");
    const page = await rig.tab();
    const properties = { name: { type: "string", title: "Your name" }, size: { type: "integer", minimum: 1, maximum: 9 }, colour: { enum: ["red", "blue"] }, sure: { type: "boolean" } };
    // No agent of a file asks with a schema, so the question gets one on its way; the answer goes to the server.
    await page.route("**/api/v1/pending", async (route) => {
      const answer = await route.fetch();
      const { pending } = await answer.json();
      await route.fulfill({ response: answer, json: { pending: pending.map((step) => ({ ...step, schema: { type: "object", required: ["name", "size"], properties } })) } });
    });
    await page.reload();  // it has read what waits without the schema
    const step = (await inboxOf(rig, page))(run);
    await step.getByLabel("Your name").fill("Ada");
    await step.getByLabel("size").fill("12");
    await step.getByText("12 is greater than 9").first().waitFor();
    assert.deepEqual(await rig.axe(page), []);
    await step.getByRole("button", { name: "Answer", exact: true }).click();
    await step.getByRole("alert").waitFor();
    assert.equal((await rig.api("/runs/" + run)).status, "awaiting_user");
    await step.getByLabel("size").fill("7");
    await step.getByLabel("colour").selectOption("blue");
    await step.getByLabel("sure").check();
    await step.getByRole("button", { name: "Answer", exact: true }).click();
    await rig.status(run, "completed");
    const decision = (await rig.api(`/runs/${run}/messages`)).items.find((item) => item.type === "decision");
    assert.deepEqual(JSON.parse(decision.text), { name: "Ada", size: 7, colour: "blue", sure: true });
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await rig.finish(page);
  });

  test("a notification says what arrived, and the title counts", async () => {
    await empty(rig);
    const page = await rig.tab({ permissions: ["notifications"] });
    await page.evaluate(() => {
      globalThis.notices = [];
      globalThis.Notification = class {
        static permission = "granted";
        static requestPermission = async () => "granted";
        constructor(title, options) {
          globalThis.notices.push(`${title}: ${options.body}`);
        }
        close() {}
      };
    });
    await page.getByRole("link", { name: "Inbox" }).click();
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notifications are on" }).waitFor();
    await waiting(rig, "ask");
    await until(async () => (await page.title()) === "(1) Praxis", "the title counts");
    const notices = await until(async () => {
      const all = await page.evaluate(() => globalThis.notices);
      return all.length > 0 && all;
    }, "a notification");
    assert.equal(notices.length, 1);
    assert.match(notices[0], /^ask waits for you: kv/);
    await empty(rig);
    await rig.finish(page);
  });

  test("axe finds nothing in the ways to decide, light and dark", async () => {
    await empty(rig);
    await waiting(rig, "writes");
    await waiting(rig, "question");
    for (const colorScheme of ["light", "dark"]) {
      const page = await rig.tab({ colorScheme, reducedMotion: "reduce" });
      await inboxOf(rig, page);
      await page.getByLabel("Change of the file").waitFor();
      assert.deepEqual(await rig.axe(page), []);
      await page.getByRole("button", { name: "Always…" }).click();
      await page.getByLabel("The rule, as JSON").waitFor();
      assert.deepEqual(await rig.axe(page), []);
      await rig.finish(page);
    }
    await empty(rig);
  });
}

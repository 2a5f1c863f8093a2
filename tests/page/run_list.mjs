// Journeys through the list of runs: filters that are in the address, and what is done to several runs at once.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { until } from "./rig.mjs";

/** Runs of one agent that have ended, the first one first. */
async function ended(rig, ...prompts) {
  const ids = [];
  for (const prompt of prompts) {
    ids.push(await rig.begin("chat", prompt));
    await rig.status(ids.at(-1), "completed");
  }
  return ids;
}
const titlesOf = (page) => page.locator("table.runs .title a").allInnerTexts();

export function runList(rig) {
  test("the filters of the list are in the address", async () => {
    const [first] = await ended(rig, "Filtered one", "Filtered two");
    rig.command("runs", "tag", first, "picked", "--journal", "runs.db");
    const page = await rig.tab();
    await page.getByLabel("Search titles").fill("Filtered");
    await until(async () => (await titlesOf(page)).join() === "Filtered two,Filtered one", "both are found");
    assert.ok(await page.getByLabel("Tag").isHidden());
    await page.getByText("More filters").click();
    await page.getByLabel("Tag").fill("picked");
    await until(async () => (await titlesOf(page)).join() === "Filtered one", "one has the tag");
    await page.locator(".tag").filter({ hasText: "picked" }).waitFor();
    await until(() => page.url().endsWith("#/runs?q=Filtered&tag=picked"), "the address has both filters");
    await page.reload();
    await until(async () => (await titlesOf(page)).join() === "Filtered one", "the address says it after a reload");
    assert.equal(await page.getByLabel("Tag").inputValue(), "picked");
    await page.getByLabel("Changed until").fill("2020-01-01");
    await page.getByText("No run fits these filters.").waitFor();
    await page.getByLabel("Changed until").fill("");
    await page.getByLabel("Changed from").fill("2020-01-01");
    await page.getByLabel("Cost at most ($)").fill("1000");
    await page.getByLabel("Model").fill("CHAT");
    await until(async () => (await titlesOf(page)).join() === "Filtered one", "it fits all");
    await page.getByLabel("Cost at least ($)").fill("999");
    await page.getByText("No run fits these filters.").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await until(async () => (await titlesOf(page)).length > 2, "all are listed");
    await until(() => page.url().endsWith("#/runs"), "the address has no filter");
    await rig.finish(page);
  });

  test("several runs are exported and deleted at once, and one at work stays", async () => {
    const ids = await ended(rig, "Several one", "Several two");
    const works = await rig.begin("ask", "Several three");
    await rig.status(works, "awaiting_user");
    const page = await rig.tab();
    await page.goto(rig.url + "/#/runs?q=Several");
    await until(async () => (await titlesOf(page)).length === 3, "three are listed");
    const bar = page.getByRole("toolbar", { name: "Selected runs" });
    await page.getByLabel("Select Several one").check();
    await page.getByText("1 run selected").waitFor();
    const saved = page.waitForEvent("download");
    await bar.getByRole("button", { name: "Export" }).click();
    const file = await saved;
    assert.equal(file.suggestedFilename(), ids[0] + ".jsonl");
    assert.match(readFileSync(await file.path(), "utf8"), /^\{"format":"praxis-session"/);
    await page.getByText("1 run exported").waitFor();
    await page.getByLabel("Select all shown").check();
    await page.getByText("3 runs selected").waitFor();
    await bar.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await until(async () => (await dialog.getByRole("listitem").count()) === 3, "the dialog names them");
    assert.deepEqual(await rig.axe(page), []);
    await dialog.getByRole("button", { name: "Keep" }).click();
    assert.equal((await titlesOf(page)).length, 3, "nothing is deleted");
    await bar.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete for good" }).click();
    await page.getByText("2 runs deleted").waitFor();
    await page.getByRole("alert").filter({ hasText: "is not finished" }).waitFor();
    await until(async () => (await titlesOf(page)).join() === "Several three", "the one at work stays");
    await page.getByText("1 run selected").waitFor();
    assert.deepEqual((await rig.api("/runs?q=Several")).runs.map((run) => run.id), [works]);
    await rig.api(`/runs/${works}/commands`, { commands: [{ verb: "interrupt" }] });
    await rig.finish(page);
  });

  test("runs are selected and deleted by keyboard", async () => {
    await ended(rig, "Typed one", "Typed two");
    const page = await rig.tab({ viewport: { width: 320, height: 640 } });
    await page.goto(rig.url + "/#/runs?q=Typed");
    await until(async () => (await titlesOf(page)).length === 2, "two are listed");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("1 run selected").waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320);
    assert.deepEqual(await rig.axe(page), []);
    await page.keyboard.press("d");
    await page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).focus();
    await page.keyboard.press("Enter");
    await until(async () => (await titlesOf(page)).join() === "Typed two", "the other stays");
    await rig.finish(page);
  });
}

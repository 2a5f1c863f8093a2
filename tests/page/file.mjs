// Journeys through a run as a file, without a server.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./rig.mjs";

/** A page that shows the run from a file that the program wrote, with the network cut. */
async function opened(rig, run, options = {}) {
  const file = join(rig.place, `${run}.html`);
  if (!existsSync(file)) rig.command("export", run, "--journal", "runs.db", "--format", "html", "-o", file);
  const page = await rig.tab({ signedIn: false, offline: true, ...options });
  page.home = "file://" + rig.place;
  await page.goto("file://" + file);
  return page;
}

export function file(rig) {
  test("a run as a file has tree, conversation, records and timeline, and is played", async () => {
    const run = await rig.begin("lead", "A run for a file");
    await until(async () => (await rig.api("/pending")).pending.some((step) => step.run === run), "a step waits");
    await until(async () => (await rig.events(run)).some((event) => event.event === "turn.completed"), "a sub-agent is done");
    const page = await opened(rig, run);
    await until(async () => (await page.getByRole("treeitem").count()) === 3, "the tree is there");
    await page.getByText("A run for a file").first().waitFor();
    assert.ok((await page.locator(".lanes i").count()) > 2, "there is a timeline");
    await page.getByRole("treeitem").filter({ hasText: "facts" }).click();
    await page.locator(".conversation").getByText("It is 120.").waitFor();
    await page.getByRole("button", { name: "Inspect record 4" }).or(page.getByRole("button", { name: /Inspect record/ }).first()).first().click();
    await page.getByLabel("The record as JSON").waitFor();
    for (const name of ["Fork from here", "Steer", "Allow", "Copy the request for curl"]) assert.equal(await page.getByRole("button", { name }).count(), 0, name);
    for (const name of ["Branches", "Files"]) assert.equal(await page.getByRole("link", { name }).count(), 0, name);
    await page.getByLabel("Speed").selectOption("64");
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByText("as it was at record").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("next record of the conversation").waitFor();
    await page.keyboard.press("Escape");
    await rig.finish(page);
  });

  test("a run of a hostile model is shown from a file, and nothing of it runs", async () => {
    const run = await rig.begin("evil", "Be evil");
    await rig.status(run, "awaiting_user");
    const page = await opened(rig, run);
    await page.locator(".answer").first().waitFor();
    await page.locator(".answer").getByText("globalThis.hacked = 1").first().waitFor();
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    const inside = readFileSync(join(rig.place, `${run}.html`), "utf8").split('id="run">')[1].split("</script>")[0];
    assert.ok(inside.includes("globalThis.hacked") && !inside.includes("<"), "the run is text in the file");
    await rig.finish(page);
  });

  for (const colorScheme of ["light", "dark"]) {
    test(`axe finds nothing in a run as a file, ${colorScheme}`, async () => {
      const run = await rig.begin("facts", "For axe");
      await rig.status(run, "completed");
      const page = await opened(rig, run, { colorScheme, reducedMotion: "reduce" });
      await page.getByRole("button", { name: /Inspect record/ }).first().click();
      await page.getByLabel("The record as JSON").waitFor();
      assert.deepEqual(await rig.axe(page), []);
      await rig.finish(page);
    });
  }
}

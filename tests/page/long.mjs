// Journeys through runs that are too large to be loaded whole: a long log, and a wide tree.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isOver, until } from "./rig.mjs";

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** Imports a run of at least so many records, each of its turns the same; returns how many turns it has. */
export async function importLong(rig, id, least) {
  const original = await rig.begin("facts", "Find it");
  await rig.status(original, "completed");
  const records = await rig.api(`/runs/${original}/export`);
  const turns = Math.ceil((least - 1) / (records.length - 1));
  writeFileSync(join(rig.place, id + ".jsonl"), repeated(records, id, turns));
  rig.command("import", id + ".jsonl", "--journal", "runs.db");
  return turns;
}

/** The export of a run like `records`, in which the turn of `records` happens `turns` times. */
function repeated(records, id, turns) {
  const [created, ...turn] = records.map((record) => structuredClone(record));
  created.body.session = id;
  const all = [created];
  for (let at = 1; at <= turns; at++) {
    for (const { kind, time, body } of turn) {
      const copy = structuredClone(body);
      if (copy.turn !== undefined) copy.turn = `t${at}`;
      if (copy.effect !== undefined) copy.effect = `e${(at - 1) * turn.length + Number(copy.effect.slice(1))}`;
      if (copy.response !== undefined) for (const part of copy.response.content) if (part.type === "text") part.text += ` (turn ${at})`;
      all.push({ seq: all.length + 1, kind, time: time + at * 1000, body: copy });
    }
  }
  const header = { format: "praxis-session", version: 5, session: id, agent: "facts", model: "m", status: "completed", title: "Long", records: all.length };
  return [header, ...all].map((line) => JSON.stringify(line)).join("\n") + "\n";
}

export function long(rig) {
  test("a long run shows its end, and what was before when it is asked for", async () => {
    const run = "01LONGRUN0000000000000LONG";
    const turns = await importLong(rig, run, 6400);
    const total = (await rig.api("/runs/" + run)).records;
    assert.ok(total > 6000, `${total} records`);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const items = page.getByRole("log").locator("ol > li");
    await page.getByText(`It is 120. (turn ${turns})`).waitFor();
    const asked = () => page.asked.filter((url) => url.includes("/history?"));
    assert.equal(asked().length, 1, "one page is enough for the end");
    const first = async () => Number(await items.first().getAttribute("data-seq"));
    assert.ok((await first()) > total - 1000);
    // The sums are those of the whole run.
    const row = page.getByRole("treeitem");
    const tree = (await rig.api(`/runs/${run}/tree`)).nodes[0];
    await until(async () => (await row.innerText()).includes(compact.format(tree.usage.self.total)), "the tokens of the whole run");

    // Scrolling up: all that was shown stays, and what comes before it has no gap.
    let before = await first();
    while (before > total - 1900) {
      await page.getByRole("log").evaluate((box) => (box.scrollTop = 0));
      await until(async () => (await first()) < before, "earlier items come");
      before = await first();
    }
    const seqs = await items.evaluateAll((all) => all.map((each) => Number(each.dataset.seq)));
    assert.deepEqual(seqs, seqs.toSorted((a, b) => a - b));
    const notes = await page.getByRole("log").locator(".note.good").count();
    const shown = await page.getByRole("log").locator(".message").count();
    assert.ok(Math.abs(notes - shown) <= 1, "a message for each turn that ended");

    // The slider: to the left end, and further.
    const slider = page.getByRole("slider", { name: "Moment of the run" });
    const all = Number(await slider.getAttribute("max"));
    await slider.fill("1");
    await until(async () => Number(await slider.getAttribute("max")) > all, "earlier events are loaded");
    await page.getByText("as it was at record").waitFor();

    // A link to a record that is not loaded.
    await page.goto(`${rig.url}/#/runs`);
    await page.goto(`${rig.url}/#/run/${run}/record/7`);
    await page.getByText("as it was at record 7").waitFor();
    await until(async () => Number(await items.last().getAttribute("data-seq")) <= 7, "the conversation ends there");
    await page.getByRole("button", { name: "Live" }).click();
    await page.getByText(`It is 120. (turn ${turns})`).waitFor();
    // All of it is loaded now, and no event is there twice.
    await page.getByRole("log").evaluate((box) => (box.scrollTop = 0));
    const count = (await rig.events(run)).length;
    await until(async () => Number(await slider.getAttribute("max")) >= count, "everything is loaded");
    assert.equal(Number(await slider.getAttribute("max")), count);
    await rig.finish(page);
  });
  test("a wide tree has a row for each agent, and draws those in sight", async () => {
    const run = await rig.begin("wide", "Let them fall");
    await until(async () => (await rig.api("/runs/" + run)).status === "completed", "the run ends", 120);
    const { nodes } = await rig.api(`/runs/${run}/tree`);
    assert.equal(nodes.length, rig.leaves + 1);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const tree = page.getByRole("tree");
    const rows = tree.getByRole("treeitem");
    await until(async () => (await rows.first().getAttribute("aria-setsize")) === String(rig.leaves + 1), "all agents are counted");
    await page.getByText("All leaves fell.").waitFor();
    assert.ok((await rows.count()) < 60, "only rows in sight are drawn");
    const requests = () => page.asked.filter((url) => url.includes("/history?")).length;
    assert.equal(requests(), 1);
    // The first leaf is long gone from what was loaded: it is loaded when it is chosen.
    const chosen = page.locator("[role=treeitem][aria-selected=true]");
    const shows = async () => page.getByRole("log").getByText(await chosen.locator(".task").innerText(), { exact: true }).waitFor();
    await rows.nth(1).click();
    await page.getByRole("log").getByText("I am a leaf.").waitFor();
    await shows();
    assert.equal(requests(), 2);
    assert.equal(await page.getByRole("log").locator(".answer").count(), 1);
    await rows.nth(1).press("End");
    await until(async () => (await chosen.getAttribute("aria-posinset")) === String(rig.leaves + 1), "the last row is chosen");
    await shows();
    await rig.finish(page);
  });
  test("the timeline of a wide tree has a lane for each agent, and draws those in sight", async () => {
    const run = await rig.begin("wide", "Let them fall again");
    await until(async () => (await rig.api("/runs/" + run)).status === "completed", "the run ends", 120);
    const { nodes } = await rig.api(`/runs/${run}/tree`);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const list = page.getByRole("list", { name: "Lanes" });
    const lanes = list.getByRole("listitem");
    const focused = page.locator(".lane:has(button:focus)");
    const place = async (lane) => Number(await lane.getAttribute("aria-posinset"));
    await until(async () => (await lanes.first().getAttribute("aria-setsize")) === String(nodes.length), "all lanes are counted");
    const few = async () => assert.ok((await lanes.count()) < 40, "only lanes in sight are drawn");
    await few();
    // With the wheel to the end: the last lane is there, and leads to its agent.
    await list.evaluate((box) => (box.scrollTop = box.scrollHeight));
    await until(async () => (await place(lanes.last())) === nodes.length, "the last lane comes into sight");
    await few();
    await lanes.last().getByRole("button", { name: "leaf" }).click();
    await until(() => page.url().endsWith("/agent/" + nodes.at(-1).id), "the agent of the lane is chosen");
    // By keyboard: one stop of the Tab key, then arrows, far beyond what is drawn.
    assert.equal(await list.locator("[tabindex='0']").count(), 1);
    await page.keyboard.press("Home");
    await until(async () => (await focused.count()) === 1 && (await place(focused)) === 1, "the first lane has the focus");
    for (let at = 2; at <= 30; at++) {
      await page.keyboard.press("ArrowDown");
      await until(async () => (await focused.count()) === 1 && (await place(focused)) === at, `lane ${at} has the focus`);
    }
    await page.keyboard.press("Enter");
    await until(() => page.url().endsWith("/agent/" + nodes[29].id), "the agent of the lane is chosen");
    await page.keyboard.press("End");
    await until(async () => (await focused.count()) === 1 && (await place(focused)) === nodes.length, "the last lane has the focus");
    await few();
    await rig.finish(page);
  });
  test("the end of a run is asked for while the code that shows it is loaded", async () => {
    const run = await rig.begin("chat", "Soon");
    await rig.status(run, "completed");
    const page = await rig.tab();
    const asked = page.waitForRequest((request) => request.url().includes(`/runs/${run}/history?`));
    await page.route("**/assets/run_view-*", async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${rig.url}/#/run/${run}`);
    await isOver(page);
    assert.equal(page.asked.filter((url) => url.includes("/history?")).length, 1);
    await rig.finish(page);
  });
}

// What the page keeps while a run streams for long. All bounds are counts, so a slow machine changes nothing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "./rig.mjs";

/** What the page holds, with all garbage collected, and its processor time so far. */
export async function held(devtools) {
  for (let i = 0; i < 3; i++) await devtools.send("HeapProfiler.collectGarbage");
  const metrics = Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  return { nodes: metrics.Nodes, listeners: metrics.JSEventListeners, heap: metrics.JSHeapUsedSize, seconds: metrics.TaskDuration };
}

export function stream(rig) {
  test("what the page keeps has a bound while a run streams", async () => {
    // 21,000 pieces; the server joins those for which the page is late.
    const { turns, steps } = rig.torrent;
    const run = await rig.begin("torrent", "Begin");
    const page = await rig.tab();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable");
    await page.goto(`${rig.url}/#/run/${run}`);
    const slider = page.getByRole("slider", { name: "Moment of the run" });
    const kept = async () => Number(await slider.getAttribute("max"));
    const seen = []; // after each turn
    for (let turn = 1; turn <= turns; turn++) {
      await rig.status(run, "completed");
      await page.getByRole("log").getByText(`Step ${turn * steps - 1} says`).last().waitFor();
      await page.getByRole("log").getByText("Turn completed", { exact: true }).last().waitFor();
      seen.push({ ...(await held(devtools)), events: await kept() });
      if (turn < turns) await rig.api(`/runs/${run}/messages`, { prompt: `Turn ${turn + 1}` });
    }
    const all = (await rig.events(run)).length;
    assert.ok(all > 2500, `${all} events happened`);
    const most = (what, from, to) => Math.max(...seen.slice(from, to).map((each) => each[what]));
    // By the ninth turn the conversation shows as much as it ever does.
    assert.ok(most("events") < 3100, JSON.stringify(seen.map((each) => each.events)));
    await until(async () => (await kept()) < all, "the oldest ones are forgotten");
    assert.ok(most("nodes", -5) < most("nodes", 8, 13) * 1.3, JSON.stringify(seen.map((each) => each.nodes)));
    assert.ok(most("listeners", -5) < most("listeners", 8, 13) * 1.3, JSON.stringify(seen.map((each) => each.listeners)));
    assert.ok(most("heap", -5) < 24e6, JSON.stringify(seen.map((each) => each.heap)));
    // What was forgotten comes back when it is looked for.
    await slider.fill("1");
    await until(async () => (await kept()) >= all, "everything is loaded again");
    await rig.finish(page);
  });
}

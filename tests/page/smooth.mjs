// What is drawn while a person moves through a long run and a wide tree: counted, so that it holds on any machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importLong } from "./long.mjs";
import { until } from "./rig.mjs";

/** Calls `move` in the page for each frame; returns what changed in `box` with one of them, at most. */
function counted(page, box, move, moves = 20) {
  return page.evaluate(async ([box, move, moves]) => {
    const each = new Function("at", move);
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    let all = [];
    const watch = new MutationObserver((records) => all.push(...records));
    watch.observe(document.querySelector(box), { subtree: true, childList: true, attributes: true, characterData: true });
    const most = { added: 0, changed: 0, bars: 0 };
    for (let at = 1; at <= moves; at++) {
      all = [];
      each(at);
      await frame();
      await frame();
      const added = all.flatMap((record) => [...record.addedNodes]).filter((node) => node.isConnected && node.nodeType === 1);
      most.added = Math.max(most.added, added.length);
      most.changed = Math.max(most.changed, all.filter((record) => record.type === "attributes" && !added.some((node) => node.contains(record.target))).length);
      most.bars = Math.max(most.bars, all.filter((record) => record.target.nodeName === "I").length + added.filter((node) => node.nodeName === "I").length);
    }
    return most;
  }, [box, move, moves]);
}

// From some turns before the end, each of which takes a second: records of the last one may be of the same millisecond, which is
// that of the end, where nothing is hidden.
const slide = `
  const slider = document.querySelector(".scrubber input");
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, slider.max - 40 - at * 7);
  slider.dispatchEvent(new Event("input", { bubbles: true }));`;

export function smooth(rig) {
  test("the slider draws what is in sight, and moves no bar", async () => {
    const run = "01SMOOTHRUN00000000SMOOTHX";
    const turns = await importLong(rig, run, 2000);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    await page.getByText(`It is 120. (turn ${turns})`).waitFor();
    const length = await page.evaluate(() => history.length);
    const items = await counted(page, ".conversation", slide);
    assert.ok(items.added > 0 && items.added < 60, JSON.stringify(items));
    const drawn = await page.locator(".conversation ol > li").count();
    assert.ok(drawn > 10 && drawn < 60, `${drawn} items`);
    // The box is full, and shows the moment.
    const { scrollHeight, clientHeight, scrollTop } = await page.locator(".conversation").evaluate((box) => ({ scrollHeight: box.scrollHeight, clientHeight: box.clientHeight, scrollTop: box.scrollTop }));
    assert.ok(scrollHeight > clientHeight && scrollHeight - clientHeight - scrollTop < 2, JSON.stringify({ scrollHeight, clientHeight, scrollTop }));
    const bars = await counted(page, ".lanes", slide);
    assert.deepEqual({ added: bars.added, bars: bars.bars }, { added: 0, bars: 0 });
    assert.ok(bars.changed <= 2, JSON.stringify(bars));
    // What comes later is hidden.
    const widthOf = (what) => page.locator(what).first().evaluate((element) => element.getBoundingClientRect().width);
    assert.ok((await widthOf(".curtain")) > 0 && (await widthOf(".curtain")) < (await widthOf(".bars")), "a part of the bars is hidden");
    // By a jump the elements draw other items: a few are made, and a call that a person opened opens no other one.
    const slider = page.getByRole("slider", { name: "Moment of the run" });
    const most = Number(await slider.getAttribute("max"));
    const jump = (places) => `
      const slider = document.querySelector(".scrubber input");
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, [${places}][at % 2]);
      slider.dispatchEvent(new Event("input", { bubbles: true }));`;
    const jumps = await counted(page, ".conversation", jump([Math.floor(most / 3), most - 40]), 8);
    assert.ok(jumps.added < 12, JSON.stringify(jumps));
    await page.locator(".call summary").first().click();
    assert.equal(await page.locator(".call details[open]").count(), 1);
    await counted(page, ".conversation", jump([Math.floor(most / 2), Math.floor(most / 2)]), 1);
    assert.equal(await page.locator(".call details[open]").count(), 0);
    await counted(page, ".conversation", slide, 1);
    // What is above is drawn when one scrolls there, and the address follows the slider, without a step for each moment.
    const first = page.locator(".conversation ol > li").first();
    const before = Number(await first.getAttribute("data-seq"));
    await page.locator(".conversation").evaluate((box) => (box.scrollTop = 0));
    await until(async () => Number(await first.getAttribute("data-seq")) < before, "earlier items come");
    const shown = /record (\d+)/.exec(await page.locator(".banner").innerText())[1];
    await until(() => page.url().endsWith("/record/" + shown), "the address is that of the moment");
    assert.equal(await page.evaluate(() => history.length), length);
    await rig.finish(page);
  });
  test("scrolling a tree and its lanes changes no row that stays", async () => {
    const run = await rig.begin("wide", "Let them fall smoothly");
    await until(async () => (await rig.api("/runs/" + run)).status === "completed", "the run ends", 120);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const count = String(rig.leaves + 1);
    await until(async () => (await page.getByRole("treeitem").first().getAttribute("aria-setsize")) === count, "all agents are counted");
    await page.getByText("All leaves fell.").waitFor();
    const tree = await counted(page, ".tree", `document.querySelector(".tree").scrollTop = at * 60;`);
    assert.ok(tree.added > 0 && tree.added <= 4 && tree.changed === 0, JSON.stringify(tree));
    const lanes = await counted(page, ".lanes", `document.querySelector(".lanes").scrollTop = at * 30;`);
    assert.ok(lanes.added > 0 && lanes.added <= 4 && lanes.changed <= 2, JSON.stringify(lanes));
    await rig.finish(page);
  });
}

// How smoothly the page moves: node tests/page/frames.mjs PRAXIS [RECORDS] [FOLDER]
// Drags the slider through a run, and scrolls a tree and its lanes, with a processor that is four times slower.
// Prints frames in a second, processor time of the page in each frame in milliseconds, and what was drawn. With FOLDER,
// the page is the one that was built there and not that of PRAXIS.
import { resolve } from "node:path";
import { makeAgents } from "./agents.mjs";
import { importLong } from "./long.mjs";
import { Rig, until } from "./rig.mjs";

const rig = await Rig.start(resolve(process.argv[2]));
const records = Number(process.argv[3] ?? 100_000);
const folder = process.argv[4];
const slower = Number(process.env.SLOWER ?? 4);
const only = new RegExp(process.env.ONLY ?? "");
const moves = Number(process.env.MOVES ?? 120);

/** Opens a run; `move` gets the page and the number of the move. */
async function measured(what, run, ready, move) {
  if (!only.test(what)) return;
  const page = await rig.tab({ folder });
  await page.goto("about:blank");
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const metrics = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  await page.goto(`${rig.url}/#/run/${run}`);
  await ready(page);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: slower });
  const before = await metrics();
  const counted = await page.evaluate(async ([moves, move]) => {
    const each = new Function("at", "of", move);
    const counts = { added: 0, removed: 0, changed: 0 };
    const size = (nodes) => [...nodes].reduce((sum, node) => sum + 1 + (node.querySelectorAll?.("*").length ?? 0), 0);
    const watch = new MutationObserver((all) => {
      for (const { type, addedNodes, removedNodes } of all) {
        counts.added += size(addedNodes);
        counts.removed += size(removedNodes);
        if (type !== "childList") counts.changed++;
      }
    });
    watch.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    // The browser gives what a person does to the page before it draws a frame, and not while it draws one.
    const task = () => new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(0);
    });
    const frame = () => new Promise(requestAnimationFrame).then(task);
    await frame();
    const begin = performance.now();
    for (let at = 1; at <= moves; at++) {
      each(at, moves);
      await frame();
    }
    const ms = performance.now() - begin;
    watch.disconnect();
    return { ...counts, ms };
  }, [moves, move]);
  const after = await metrics();
  const spent = (name) => (((after[name] - before[name]) * 1000) / moves).toFixed(1);
  const per = (name) => Math.round(counted[name] / moves);
  console.log(`${what}: ${Math.round((moves * 1000) / counted.ms)} frames/s; in each ${spent("TaskDuration")} ms (script ${spent("ScriptDuration")}, style ${spent("RecalcStyleDuration")}, layout ${spent("LayoutDuration")}), nodes added ${per("added")}, removed ${per("removed")}, changed ${per("changed")}`);
  await page.context().close();
}

const slide = (place) => `
  const slider = document.querySelector(".scrubber input");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  set.call(slider, Math.round(2 + (slider.max - 3) * (${place})));
  slider.dispatchEvent(new Event("input", { bubbles: true }));`;
const scroll = (box) => `
  const box = document.querySelector("${box}");
  box.scrollTop = Math.min(at, of - at) * 60;`;

try {
  makeAgents(rig);
  const run = "01LARGERUN000000000000LARGE";
  const turns = await importLong(rig, run, records);
  const end = (page) => page.getByText(`It is 120. (turn ${turns})`).waitFor({ timeout: 60_000 });
  await measured("slider back", run, end, slide("1 - at / of"));
  await measured("slider to and fro", run, end, slide("Math.abs(((at * 7) % of) / of - 0.5) * 2"));
  const wide = await rig.begin("wide", "Let them fall");
  await until(async () => (await rig.api("/runs/" + wide)).status === "completed", "the run ends", 240);
  const there = (page) => page.getByText("All leaves fell.").waitFor({ timeout: 60_000 });
  await measured("slider over a tree", wide, there, slide("1 - at / of"));
  await measured("tree", wide, there, scroll(".tree"));
  await measured("lanes", wide, there, scroll(".lanes"));
  await measured("conversation", run, end, scroll(".conversation").replace("Math.min(at, of - at) * 60", "box.scrollHeight - box.clientHeight - Math.min(at, of - at) * 60"));
} finally {
  await rig.end();
}

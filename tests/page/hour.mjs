// What a page keeps that is open for long: node tests/page/hour.mjs PRAXIS [PIECES] [FOLDER]
// A run streams PIECES pieces of answers (100,000), with as many records and calls as belong to them. Prints what the page
// holds after each tenth of them, with all garbage collected, and fails if the last half needs more than the first.
// With FOLDER, the page is the one that was built there and not that of PRAXIS.
import { resolve } from "node:path";
import { makeAgents } from "./agents.mjs";
import { Rig } from "./rig.mjs";
import { held } from "./stream.mjs";

const rig = await Rig.start(resolve(process.argv[2]));
const pieces = Number(process.argv[3] ?? 100_000);
const folder = process.argv[4];
const parts = 10;

try {
  const { steps, pieces: ofStep } = rig.torrent;
  rig.torrent.turns = Math.ceil(pieces / (steps * ofStep * parts)) * parts;
  makeAgents(rig);
  const begin = performance.now();
  const run = await rig.begin("torrent", "Begin");
  const page = await rig.tab({ folder });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`${rig.url}/#/run/${run}`);
  const slider = page.getByRole("slider", { name: "Moment of the run" });
  const seen = [];
  for (let turn = 1; turn <= rig.torrent.turns; turn++) {
    await rig.status(run, "completed");
    await page.getByRole("log").getByText(`Step ${turn * steps - 1} says`).last().waitFor();
    await page.getByRole("log").getByText("Turn completed", { exact: true }).last().waitFor();
    if (turn % (rig.torrent.turns / parts) === 0) {
      const now = { ...(await held(devtools)), events: Number(await slider.getAttribute("max")) };
      seen.push(now);
      console.log(`${turn * steps * ofStep} pieces, ${Math.round((performance.now() - begin) / 1000)} s: heap ${(now.heap / 1e6).toFixed(1)} MB, ${now.nodes} nodes, ${now.listeners} listeners, ${now.events} events kept, page ${now.seconds.toFixed(1)} s of processor`);
    }
    if (turn < rig.torrent.turns) await rig.api(`/runs/${run}/messages`, { prompt: `Turn ${turn + 1}` });
  }
  for (const what of ["heap", "nodes", "listeners"]) {
    // Between two times at which the oldest events are forgotten, it grows and shrinks.
    const most = (from, to) => Math.max(...seen.slice(from, to).map((each) => each[what]));
    const [early, late] = [most(1, parts / 2), most(parts / 2)];
    console.log(`${what}: at most ${early} in the first half, ${late} in the last`);
    if (late > early * 1.1) process.exitCode = 1;
  }
} finally {
  await rig.end();
}

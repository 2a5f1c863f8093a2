// What opening a large run costs: node tests/page/measure.mjs PRAXIS [RECORDS]
// Prints processor time of the server and of the page, in milliseconds, and the memory of the page.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeAgents } from "./agents.mjs";
import { repeated } from "./long.mjs";
import { Rig } from "./rig.mjs";

const praxis = resolve(process.argv[2]);
const records = process.argv[3] ?? "100000";
const rig = await Rig.start(praxis);
const ticks = 10; // milliseconds in one tick of Linux

/** Processor time of the server so far. */
function ofServer() {
  const fields = readFileSync(`/proc/${rig.server.pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * ticks;
}

async function asked(what, ask) {
  const [begin, used] = [performance.now(), ofServer()];
  await ask();
  console.log(`${what}: ${Math.round(performance.now() - begin)} ms, server ${ofServer() - used} ms`);
}

async function opened(run, turns, what) {
  const page = await rig.tab();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable");
  const metrics = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const [before, used, begin] = [await metrics(), ofServer(), performance.now()];
  await page.goto(`${rig.url}/#/run/${run}`);
  await page.getByText(`It is 120. (turn ${turns})`).waitFor();
  const shown = Math.round(performance.now() - begin);
  await page.waitForLoadState("networkidle").catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const after = await metrics();
  console.log(`${what}: shown after ${shown} ms, server ${ofServer() - used} ms, page ${Math.round((after.TaskDuration - before.TaskDuration) * 1000)} ms, heap ${Math.round(after.JSHeapUsedSize / 1e6)} MB`);
  await page.context().close();
}

try {
  makeAgents(rig);
  const original = await rig.begin("facts", "Find it");
  await rig.status(original, "completed");
  const turn = await rig.api(`/runs/${original}/export`);
  const turns = Math.ceil((Number(records) - 1) / (turn.length - 1));
  const run = "01LARGERUN000000000000LARGE";
  writeFileSync(join(rig.place, "large.jsonl"), repeated(turn, run, turns));
  rig.command("import", "large.jsonl", "--journal", "runs.db");
  await opened(run, turns, "opened first");
  await opened(run, turns, "opened again");
  await rig.kill();
  await rig.serve();
  await asked("history alone", () => rig.api(`/runs/${run}/history?limit=1000`));
  await asked("tree after it", () => rig.api(`/runs/${run}/tree`));
  await asked("run after it", () => rig.api(`/runs/${run}`));
} finally {
  await rig.end();
}

// What opening a large run costs: node tests/page/measure.mjs PRAXIS [RECORDS] [FOLDER]...
// Prints requests and bytes of the API, elements that are drawn, processor time of the server and of the page, in
// milliseconds, and the memory of the page. With FOLDERs, in which pages were built, it opens the run with each of them.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { makeAgents } from "./agents.mjs";
import { importLong } from "./long.mjs";
import { Rig } from "./rig.mjs";

const praxis = resolve(process.argv[2]);
const records = process.argv[3] ?? "100000";
const folders = process.argv.length > 4 ? process.argv.slice(4) : [undefined];
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

/** Counts what is asked about runs, and what is answered, from now on; streams are left out. */
async function answers(devtools) {
  const sums = { requests: 0, bytes: 0 };
  const ofApi = new Set();
  devtools.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (!request.url.includes("/api/v1/runs/") || request.url.endsWith("/events")) return;
    ofApi.add(requestId);
    sums.requests++;
  });
  devtools.on("Network.dataReceived", ({ requestId, dataLength }) => (sums.bytes += ofApi.has(requestId) ? dataLength : 0));
  await devtools.send("Network.enable");
  return sums;
}

async function opened(run, turns, what, folder) {
  const page = await rig.tab({ folder });
  await page.goto("about:blank");
  const devtools = await page.context().newCDPSession(page);
  const sums = await answers(devtools);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const metrics = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const [before, used, begin] = [await metrics(), ofServer(), performance.now()];
  await page.goto(`${rig.url}/#/run/${run}`);
  await page.getByText(`It is 120. (turn ${turns})`).waitFor();
  const shown = Math.round(performance.now() - begin);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const after = await metrics();
  const spent = (name) => Math.round((after[name] - before[name]) * 1000);
  const elements = await page.evaluate(() => document.querySelectorAll("*").length);
  console.log(`${what}: shown after ${shown} ms, ${sums.requests} requests, ${sums.bytes} bytes, ${elements} elements, server ${ofServer() - used} ms, page ${spent("TaskDuration")} ms (script ${spent("ScriptDuration")}, style ${spent("RecalcStyleDuration")}, layout ${spent("LayoutDuration")}), heap ${Math.round(after.JSHeapUsedSize / 1e6)} MB`);
  await page.context().close();
}

try {
  makeAgents(rig);
  const run = "01LARGERUN000000000000LARGE";
  const turns = await importLong(rig, run, Number(records));
  await opened(run, turns, "opened first", folders[0]);
  for (let round = 1; round <= (folders.length > 1 ? 3 : 1); round++) {
    for (const folder of folders) await opened(run, turns, `opened again${folder === undefined ? "" : " with " + folder}`, folder);
  }
  await rig.kill();
  await rig.serve();
  await asked("history alone", () => rig.api(`/runs/${run}/history?limit=1000`));
  await asked("tree after it", () => rig.api(`/runs/${run}/tree`));
  await asked("run after it", () => rig.api(`/runs/${run}`));
} finally {
  await rig.end();
}

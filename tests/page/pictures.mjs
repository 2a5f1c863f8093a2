// Takes the pictures of the documentation: node tests/page/pictures.mjs PRAXIS FOLDER
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Rig, until } from "./rig.mjs";

const [praxis, folder] = process.argv.slice(2);
const largest = 100_000; // bytes of a picture
const size = { width: 1280, height: 760 };

const kv = (op, key, value) => ({ name: "kv", arguments: { op, key, ...(value === undefined ? {} : { value }) } });
const usage = (input, output, cost_usd) => ({ input, output, cost_usd });

function makeAgents(rig) {
  const notes = join(rig.place, "notes");
  mkdirSync(notes);
  rig.agent(
    "editor",
    [
      {
        reasoning: "The numbers come first. The writer needs them.", text: "I ask the reader for the numbers, and the writer for the page.", usage: usage(1840, 96, 0.0031),
        tool_calls: [{ name: "reader", arguments: { prompt: "How deep is each of the three harbours?" } }, { name: "writer", arguments: { prompt: "Write the depths to notes/depths.md" } }],
      },
      { text: "The page has the depths." },
    ],
    '[agents.reader]\nfile = "reader.toml"\ndescription = "Looks things up"\n[agents.writer]\nfile = "writer.toml"\ndescription = "Writes pages"\n[policy]\nask = ["file_write"]',
  );
  rig.agent(
    "reader",
    [
      { text: "I note what the register says.", tool_calls: [kv("put", "rotterdam", "24 m"), kv("put", "antwerp", "17 m")], usage: usage(960, 61, 0.0012) },
      { text: "| Harbour | Depth |\n|---|---|\n| Rotterdam | 24 m |\n| Antwerp | 17 m |\n| Hamburg | 15 m |", usage: usage(1120, 48, 0.0014) },
    ],
    '[tools.kv]\n[policy]\nallow = ["kv"]',
  );
  const page = "# Depths\n\n- Rotterdam: 24 m\n- Antwerp: 17 m\n- Hamburg: 15 m\n";
  rig.agent(
    "writer",
    [{ text: "I write one line for each harbour.", tool_calls: [{ name: "file_write", arguments: { path: join(notes, "depths.md"), content: page } }], usage: usage(1310, 122, 0.0022) }, { text: "Written." }],
    `[tools.file]\nwrite = ["${notes}"]\n[policy]\nask = ["file_write"]`,
  );
  rig.agent("helper", [{ text: "It is **Rotterdam**, with 24 metres.", usage: usage(420, 18, 0.0006) }]);
  rig.agent("checker", [{ error: { code: "provider", status: 401, message: "the key is wrong" } }]);
}

/** Records the runs that are shown; returns the one that waits. */
async function recorded(rig) {
  for (const [agent, prompt, status] of [["helper", "Which harbour is the deepest?", "completed"], ["checker", "Compare the register with the charts", "error"], ["reader", "How deep is the harbour of Antwerp?", "completed"]])
    await rig.status(await rig.begin(agent, prompt), status);
  const run = await rig.begin("editor", "Add the depths of the harbours to the notes");
  await until(async () => (await rig.api("/pending")).pending.some((step) => step.run === run), "a step waits");
  return run;
}

/** Writes one day, one time of day, one id and one folder over those of this recording. */
function settle(page) {
  return page.evaluate((place) => {
    const walker = document.createTreeWalker(document.getElementById("page"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      node.data = node.data
        .replaceAll(place, "/home/you")
        .replace(/\d{4}-\d{2}-\d{2}/g, "2026-01-31")
        .replace(/\d{1,2}:\d{2}:\d{2}(\.\d+)?/g, "09:41:00")
        .replace(/(^|\s)\d{1,2}:\d{2}(?!:)/g, "$109:41")
        .replace(/01[0-9A-HJKMNP-TV-Z]{24}/g, "01KG9A00000000000000000001");
    }
    document.querySelectorAll("table.runs td.mono").forEach((cell, at) => (cell.firstChild.data = `00000${at + 1}`));
    for (const input of document.querySelectorAll("input[type=date]")) input.value = "2026-01-31";
  }, rig.place);
}

async function picture(page, name) {
  await settle(page);
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const bytes = Buffer.from(data, "base64");
  assert.ok(bytes.length < largest, `${name} has ${bytes.length} bytes`);
  writeFileSync(join(folder, name + ".webp"), bytes);
  console.log(`${name}.webp: ${bytes.length} bytes`);
}

const rig = await Rig.start(praxis);
try {
  makeAgents(rig);
  const run = await recorded(rig);
  const page = await rig.tab({ viewport: size, colorScheme: "light", timezoneId: "UTC", reducedMotion: "reduce" });
  await page.goto(rig.url + "/#/runs");
  await until(async () => (await page.locator("table.runs tbody tr").count()) === 4, "the runs are listed");
  await picture(page, "runs");
  await page.goto(rig.url + "/#/inbox");
  await page.locator(".inbox > li .diff, .inbox > li pre").first().waitFor();
  await picture(page, "inbox");
  await page.goto(`${rig.url}/#/run/${run}`);
  await page.getByRole("treeitem").nth(2).waitFor();
  await page.getByRole("button", { name: /^Inspect record/ }).nth(2).click();
  await page.locator(".lane").nth(2).waitFor();
  await picture(page, "run");
  await page.goto(rig.url + "/#/usage");
  await page.locator("main td").first().waitFor();
  await picture(page, "usage");
} finally {
  await rig.end();
}

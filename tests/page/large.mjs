// What opening a large run asks for and draws: counted, so that it holds on any machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importLong } from "./long.mjs";
import { until } from "./rig.mjs";

const elements = (page) => page.evaluate(() => document.querySelectorAll("*").length);

export function large(rig) {
  test("a large run is opened with few requests and elements, wherever one reads in it", async () => {
    const run = "01LARGERUN000000000000LARGE";
    const turns = await importLong(rig, run, 3000);
    const page = await rig.tab();
    const asked = (part) => page.asked.filter((url) => url.includes(part)).length;
    const answered = page.waitForResponse((response) => response.url().includes("/history?"));
    await page.goto(`${rig.url}/#/run/${run}`);
    await page.getByText(`It is 120. (turn ${turns})`).waitFor();
    const { length } = await (await answered).body();
    assert.ok(length < 200_000, `${length} bytes`);
    await until(() => asked("/tree/rows") === 1, "the tree is asked for");
    assert.deepEqual([asked("/history?"), asked("/records?"), asked("/policy")], [1, 0, 0]);
    const drawn = await elements(page);
    assert.ok(drawn < 650, `${drawn} elements`);

    // Far up, what is far below is no longer drawn, and comes back.
    const log = page.getByRole("log");
    const items = log.locator("ol > li");
    const seqOf = async (item) => Number(await item.getAttribute("data-seq"));
    const total = await seqOf(items.last());
    for (let first = await seqOf(items.first()); first > total - 1500; first = await seqOf(items.first())) {
      await log.evaluate((box) => (box.scrollTop = 0));
      await until(async () => (await seqOf(items.first())) < first, "earlier items come");
      assert.ok((await items.count()) <= 120, `${await items.count()} items`);
    }
    assert.ok((await elements(page)) < 2000, `${await elements(page)} elements`);
    assert.equal(asked("/history?"), 3);
    while ((await seqOf(items.last())) < total) {
      const last = await seqOf(items.last());
      await log.evaluate((box) => (box.scrollTop = box.scrollHeight));
      await until(async () => (await seqOf(items.last())) > last, "later items come");
    }
    await log.evaluate((box) => (box.scrollTop = box.scrollHeight));
    await until(async () => (await items.count()) < 60, "what is far above is no longer drawn");

    // A request to the model is explained by the records around it alone.
    const before = asked("/records?");
    const request = (await rig.api(`/runs/${run}/records?from=${total - 30}&limit=30`)).records.findLast(({ kind, body }) => kind === "effect_intended" && body.kind !== "tool");
    await page.goto(`${rig.url}/#/run/${run}/record/${request.seq}`);
    await page.getByRole("button", { name: "Edit the instructions and fork…" }).waitFor();
    const read = asked("/records?") - before;
    assert.ok(read >= 1 && read <= 2, `${read} requests`);
    await rig.finish(page);
  });
}

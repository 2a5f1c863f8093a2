// Journeys through what goes wrong: a server that is killed, content that is hostile.
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { test } from "node:test";
import { isOver, until, words } from "./rig.mjs";

export function survival(rig) {
  test("a killed server: the page goes on, nothing missing, nothing twice, what was typed stays", async () => {
    const run = await rig.begin("slow", "Stream");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const live = page.locator(".answer.live");
    await until(async () => (await live.count()) > 0 && (await live.innerText()).includes("word40."), "it streams");
    await page.locator("#composer").fill("typed before the crash");
    await rig.kill();
    await page.locator(".connection.lost").waitFor();
    await rig.serve();
    await page.locator(".connection.live").waitFor();
    await rig.status(run, "completed");
    await isOver(page);
    const result = (await rig.api("/runs/" + run)).result.trim();
    assert.equal(result, words.join(" "));
    assert.equal(await page.locator(".answer").count(), 1);
    assert.equal((await page.locator(".answer").innerText()).trim(), result);
    assert.equal(await page.locator("#composer").inputValue(), "typed before the crash");
    const items = await page.getByRole("log").locator("ol > li").evaluateAll((all) => all.map((each) => each.innerText));
    await page.reload();
    await isOver(page);
    assert.deepEqual(await page.getByRole("log").locator("ol > li").evaluateAll((all) => all.map((each) => each.innerText)), items);
    assert.equal(await page.locator("#composer").inputValue(), "typed before the crash");
    await rig.finish(page);
  });

  test("a slow link, and a proxy that cuts every connection: nothing missing, nothing twice, what was typed stays", async () => {
    const sockets = new Set();
    const proxy = createServer((from) => {
      const to = connect(rig.port, "127.0.0.1");
      for (const socket of [from, to]) {
        sockets.add(socket);
        socket.on("error", () => undefined).on("close", () => { from.destroy(); to.destroy(); sockets.delete(socket); });
      }
      from.pipe(to).pipe(from);
    });
    await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const run = await rig.begin("slow", "Stream through a bad line");
    const page = await rig.tab();
    const through = `http://127.0.0.1:${proxy.address().port}`;
    page.home = through;
    await page.goto(`${through}/#/run/${run}`);
    const live = page.locator(".answer.live");
    await until(async () => (await live.count()) > 0, "it streams");
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", { offline: false, latency: 100, downloadThroughput: 200_000, uploadThroughput: 50_000 });
    await page.locator("#composer").fill("typed on a bad line");
    let cuts = 0;
    const timer = setInterval(() => { cuts++; for (const socket of sockets) socket.destroy(); }, 700);
    const whole = words.join(" ");
    while ((await rig.api("/runs/" + run)).status === "running") {
      const [text] = await live.allInnerTexts();
      if (text !== undefined) assert.ok(whole.startsWith(text.trim()), `shown while it streams: ${text.slice(0, 100)}`);
    }
    await rig.status(run, "completed");
    clearInterval(timer);
    assert.ok(cuts >= 2, `${cuts} cuts`);
    await isOver(page);
    assert.equal(await page.locator(".answer").count(), 1);
    assert.equal(await page.locator(".message").count(), 1);
    assert.equal((await page.locator(".answer").innerText()).trim(), whole);
    assert.equal(await page.locator("#composer").inputValue(), "typed on a bad line");
    await page.locator(".connection.live").waitFor();
    await rig.finish(page);
    proxy.close();
  });

  test("hostile content does nothing and asks for nothing", async () => {
    const run = await rig.begin("evil", "<img src=x onerror=globalThis.hacked=1>");
    await rig.status(run, "awaiting_user");
    const page = await rig.tab();
    const calm = async (where) => {
      assert.equal(await page.evaluate(() => globalThis.hacked), undefined, where);
      const foreign = await page.locator("#page").evaluate((root) =>
        [...root.querySelectorAll("script, img, svg, iframe, object, embed, style, link, base, form[action], [onerror], [onload]")].map((each) => each.outerHTML));
      assert.deepEqual(foreign, [], where);
      const links = await page.locator("#page a").evaluateAll((all) => all.map((each) => each.href));
      for (const link of links) assert.match(link, /^(https?|mailto):/, where);
    };
    await page.locator("table.runs .title").first().waitFor();
    await calm("runs");
    await page.goto(rig.url + "/#/inbox");
    await page.locator(".inbox > li").first().waitFor();
    await calm("inbox");
    await page.goto(`${rig.url}/#/run/${run}`);
    await page.locator(".answer .prose:not(.raw)").first().waitFor();
    for (const details of await page.locator("details").all()) await details.evaluate((element) => (element.open = true));
    await calm("run");
    assert.equal(await page.locator(".decision").getByRole("button", { name: "Allow", exact: true }).count(), 1, "only our own button allows");
    await page.getByText("press", { exact: true }).first().click();
    await page.getByRole("button", { name: "Inspect record 5" }).first().click();
    await page.getByLabel("The record as JSON").waitFor();
    await calm("record");
    await page.getByRole("log").getByRole("button", { name: "Allow", exact: true }).click();
    await isOver(page);
    await calm("after its end");
    assert.equal(page.context().pages().length, 1);
    await rig.finish(page);
  });
}

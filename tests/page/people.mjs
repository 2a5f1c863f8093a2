// Journeys of people who step in: the inbox by keyboard, and what can be said to an agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isOver, until } from "./rig.mjs";

export function people(rig) {
  test("everything in the inbox can be decided by keyboard alone", async () => {
    for (const step of (await rig.api("/pending")).pending) await rig.api(`/runs/${step.run}/commands`, { commands: [{ verb: "interrupt" }] });
    await until(async () => (await rig.api("/pending")).pending.length === 0, "the inbox is empty");
    const page = await rig.tab();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.getByText("Nothing waits for you.").waitFor();
    const runs = [];
    for (const agent of ["question", "ask", "ask", "ask"]) {
      runs.push(await rig.begin(agent));
      await until(async () => (await rig.api("/pending")).pending.length === runs.length, "it waits");
    }
    const steps = page.locator(".inbox > li");
    await until(async () => (await steps.count()) === 4, "four steps wait");
    await until(async () => (await page.title()) === "(4) Praxis", "the title counts");
    const order = (await rig.api("/pending")).pending.map((step) => step.run).reverse();
    const chosen = () => page.locator(".inbox > li[aria-current=true]").getAttribute("id");
    const toStepOf = async (run) => {
      for (let press = 0; press < 8 && !(await chosen()).includes(run); press++) await page.keyboard.press(press < 4 ? "k" : "j");
      for (let press = 0; press < 8 && !(await chosen()).includes(run); press++) await page.keyboard.press("j");
      assert.ok((await chosen()).includes(run));
    };
    const typing = () => page.locator(".inbox > li[aria-current=true] textarea:focus").waitFor();
    assert.ok((await chosen()).includes(order[0]));
    await toStepOf(runs[1]);
    await page.keyboard.press("a");
    await rig.status(runs[1], "completed");
    await until(async () => (await steps.count()) === 3, "it is gone");
    await toStepOf(runs[2]);
    await page.keyboard.press("d");
    await typing();
    await page.keyboard.type("not today");
    await page.keyboard.press("Control+Enter");
    await rig.status(runs[2], "completed");
    const denied = (await rig.api(`/runs/${runs[2]}/messages`)).items.find((item) => item.type === "decision");
    assert.deepEqual([denied.verb, denied.text], ["deny", "not today"]);
    await toStepOf(runs[3]);
    await page.keyboard.press("e");
    await typing();
    await page.keyboard.press("Control+a");
    await page.keyboard.type('{"op": "put", "key": "k", ');
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").filter({ hasText: "not valid JSON" }).waitFor();
    await page.keyboard.type('"value": "edited"}');
    await page.keyboard.press("Control+Enter");
    await rig.status(runs[3], "completed");
    const ran = (await rig.api(`/runs/${runs[3]}`)).actions[0];
    assert.equal(ran.arguments.value, "edited");
    await toStepOf(runs[0]);
    await page.keyboard.press("r");
    await typing();
    await page.keyboard.type("blue");
    await page.keyboard.press("Control+Enter");
    await rig.status(runs[0], "completed");
    assert.ok(JSON.stringify((await rig.api(`/runs/${runs[0]}/messages`)).items).includes("blue"));
    await page.getByText("Nothing waits for you.").waitFor();
    await until(async () => (await page.title()) === "Praxis", "the title counts no more");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("deny, with a reason").waitFor();
    await page.keyboard.press("Escape");
    await until(async () => (await page.getByRole("dialog").count()) === 0, "the list of keys is closed");
    await rig.finish(page);
  });

  test("an agent is steered, paused, annotated, stopped and goes on", async () => {
    const run = await rig.begin("waits", "Take your time");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    const node = async () => (await rig.api(`/runs/${run}/tree`)).nodes[0];
    const composer = page.locator("#composer");
    await page.getByRole("button", { name: "Steer" }).waitFor();
    await page.keyboard.press("c");
    await page.keyboard.type("Be brief");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Steered: Be brief").waitFor();
    await until(async () => (await composer.inputValue()) === "", "what was sent is no draft");
    await composer.fill("Then this");
    await page.getByRole("button", { name: "Queue" }).click();
    await page.getByText("Queued: Then this").waitFor();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await until(async () => (await node()).paused, "it is paused");
    await page.locator(".head").getByText("paused").waitFor();
    await page.getByRole("button", { name: "Unpause" }).click();
    await until(async () => !(await node()).paused, "it is not paused");
    await page.getByRole("button", { name: "Annotate…" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("watch this one");
    await page.getByRole("dialog").getByRole("button", { name: "Annotate" }).click();
    await until(async () => (await node()).comment === "watch this one", "the comment is there");
    await page.getByRole("tree").getByText("watch this one").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("Interrupted").first().waitFor();
    const said = (await rig.api(`/runs/${run}/messages`)).items.filter((item) => item.type === "command").map((item) => `${item.verb} ${item.text} ${item.by}`);
    assert.ok(said.includes("steer Be brief owner"), said.join("; "));
    assert.ok(said.some((each) => each.startsWith("interrupt")), said.join("; "));
    await rig.finish(page);
  });

  test("the next message begins a turn", async () => {
    const run = await rig.begin("chat");
    await rig.status(run, "completed");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    await page.locator("#composer").fill("More");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Second answer.").waitFor();
    await until(async () => (await rig.api("/runs/" + run)).result === "Second answer.", "the turn ends");
    await rig.finish(page);
  });

  test("two tabs show the same", async () => {
    const run = await rig.begin("ask");
    await rig.status(run, "awaiting_user");
    const [one, two] = [await rig.tab(), await rig.tab()];
    for (const page of [one, two]) await page.goto(`${rig.url}/#/run/${run}`);
    await one.getByRole("log").getByRole("button", { name: "Allow", exact: true }).click();
    for (const page of [one, two]) await isOver(page);
    const text = (page) => page.getByRole("log").innerText();
    await until(async () => (await text(one)) === (await text(two)), "both show the same");
    for (const page of [one, two]) await rig.finish(page);
  });
}

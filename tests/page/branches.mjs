// Journeys back in time: playing, editing and forking, branches, comparing, replaying.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isOver, until } from "./rig.mjs";

const finished = async (rig, agent, prompt) => {
  const run = await rig.begin(agent, prompt);
  await rig.status(run, "completed");
  return run;
};

/** The run at the end of the address of a comparison. */
const otherOf = (page) => new URL(page.url()).hash.split("/").at(-1);

export function branches(rig) {
  test("a run is played from its beginning to its end", async () => {
    const run = await finished(rig, "facts", "Play me");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    await isOver(page);
    await page.getByLabel("Speed").selectOption("64");
    await page.getByRole("button", { name: "Play" }).click();
    await page.getByText("as it was at record").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).waitFor();
    await until(async () => (await page.getByText("as it was at record").count()) === 0, "it is live again");
    await isOver(page);
    await rig.finish(page);
  });

  test("the result of a tool is edited and forked, and both branches are compared", async () => {
    const run = await finished(rig, "facts", "Edit me");
    const before = await rig.api(`/runs/${run}/export`);
    const result = before.find((record) => record.kind === "effect_settled" && record.body.result !== undefined);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}/record/${result.seq}`);
    await page.getByRole("button", { name: "Edit the result of the tool and fork…" }).click();
    const form = page.getByRole("form", { name: "Edit and fork" });
    await form.getByLabel("The result of the tool").fill("the branch says so");
    await form.getByRole("button", { name: "Fork with this" }).click();
    await page.waitForURL(/#\/compare\//);
    const fork = otherOf(page);
    await rig.status(fork, "completed");
    assert.ok(JSON.stringify(await rig.api(`/runs/${fork}/messages`)).includes("the branch says so"));
    assert.deepEqual(await rig.api(`/runs/${run}/export`), before);
    await page.getByText(`The same up to record ${result.seq - 1}.`).waitFor();
    const changed = page.locator("table.steps tr.changed").filter({ hasText: "the branch says so" });
    await changed.waitFor();
    await until(async () => (await page.locator("table.standings .status.good").count()) === 2, "both are shown as completed");
    await page.getByLabel("Only what differs").check();
    await until(async () => (await page.locator("table.steps tr.same").count()) === 0, "only differences are shown");
    await page.getByRole("link", { name: "Branches" }).click();
    await page.getByRole("list", { name: "Branches" }).getByText(`from record ${result.seq}`).waitFor();
    await page.getByRole("button", { name: "Replay this run" }).click();
    await page.getByText("Identical:").waitFor();
    await rig.finish(page);
  });

  test("a message and the arguments of a call are edited and forked", async () => {
    const run = await finished(rig, "facts", "The first words");
    const records = await rig.api(`/runs/${run}/export`);
    const message = records.find((record) => record.kind === "message_appended");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}/record/${message.seq}`);
    await page.getByRole("button", { name: "Edit the message and fork…" }).click();
    await page.getByLabel("The message").fill("Other words");
    await page.getByRole("button", { name: "Fork with this" }).click();
    await page.waitForURL(/#\/compare\//);
    await rig.status(otherOf(page), "completed");
    const said = (await rig.api(`/runs/${otherOf(page)}/messages`)).items.find((item) => item.type === "message");
    assert.equal(said.content[0].text, "Other words");
    const answer = records.find((record) => record.kind === "effect_settled" && record.body.response !== undefined);
    await page.goto(`${rig.url}/#/run/${run}/record/${answer.seq}`);
    await page.getByRole("button", { name: "Edit the arguments of kv and fork…" }).click();
    await page.getByLabel("The arguments of kv").fill('{"op": "put", "key": "k", "value": "of the branch"}');
    await page.getByRole("button", { name: "Fork with this" }).click();
    await page.waitForURL(/#\/compare\//);
    await rig.status(otherOf(page), "completed");
    assert.equal((await rig.api(`/runs/${otherOf(page)}`)).actions[0].arguments.value, "of the branch");
    await rig.finish(page);
  });

  test("the inspector says what was new in a request, what an answer cost, and what the rules say", async () => {
    const run = await finished(rig, "lead-alone", "Count");
    const records = await rig.api(`/runs/${run}/export`);
    const requests = records.filter((record) => record.kind === "effect_intended" && record.body.kind !== "tool");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}/record/${requests[1].seq}`);
    const request = page.getByRole("region", { name: "The request to the model" });
    await request.getByText("result", { exact: true }).waitFor();
    assert.equal(await request.getByText("message", { exact: true }).count(), 0, "the message is not new");
    const answer = records.find((record) => record.kind === "effect_settled" && record.body.response?.usage?.cost_usd > 0);
    await page.goto(`${rig.url}/#/run/${run}/record/${answer.seq}`);
    const facts = page.locator(".inspector dl");
    await facts.getByText("$0.02").waitFor();
    await facts.getByText("900 tokens").waitFor();
    const intent = records.find((record) => record.kind === "effect_intended" && record.body.kind === "tool");
    await page.goto(`${rig.url}/#/run/${run}/record/${intent.seq}`);
    await page.getByRole("region", { name: "What the rules say" }).getByText("allow", { exact: true }).waitFor();
    await rig.finish(page);
  });

  test("agents are described, a call is tried by the rules, and settings say where they come from", async () => {
    const page = await rig.tab();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("navigation", { name: "Agents" }).getByRole("link", { name: "ask", exact: true }).click();
    const form = page.getByRole("form", { name: "Try a call" });
    await form.getByLabel("Arguments, as JSON").fill('{"op": "get", "key": "k"}');
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByRole("status").getByText("ask", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Start a run" }).click();
    await page.getByRole("dialog").getByLabel("What is it to do?").last().fill("From its page");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/#\/run\//);
    await rig.status(page.url().split("/").at(-1), "awaiting_user");
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("cell", { name: "server", exact: false }).or(page.getByRole("cell").first()).first().waitFor();
    await rig.finish(page);
  });
}

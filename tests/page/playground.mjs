// Journeys around one call of a model, the files of a run, and whether the server is set up well.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./rig.mjs";

const requestsOf = (records) => records.filter((record) => record.kind === "effect_intended" && (record.body.kind ?? "model") === "model");

export function playground(rig) {
  test("the instructions of a request are edited and forked, and both branches are compared", async () => {
    const run = await rig.begin("facts", "Instruct me");
    await rig.status(run, "completed");
    const before = await rig.api(`/runs/${run}/export`);
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}/record/${requestsOf(before)[1].seq}`);
    await page.getByRole("button", { name: "Edit the instructions and fork…" }).click();
    await page.getByLabel("The instructions").fill("Answer in one word.");
    await page.getByRole("button", { name: "Fork with this" }).click();
    await page.waitForURL(/#\/compare\//);
    const fork = new URL(page.url()).hash.split("/").at(-1);
    await rig.status(fork, "completed");
    const changed = (await rig.api(`/runs/${fork}/export`)).find((record) => record.kind === "intervened");
    assert.equal(changed.body.agent.instructions, "Answer in one word.");
    assert.deepEqual(await rig.api(`/runs/${run}/export`), before);
    await page.getByText(`The same up to record ${requestsOf(before)[1].seq - 1}.`).waitFor();
    await rig.finish(page);
  });

  test("a call of a model is sent again in two versions, side by side, and no tool runs", async () => {
    const run = await rig.begin("facts", "Play with me");
    await rig.status(run, "completed");
    const before = await rig.api(`/runs/${run}/export`);
    const request = requestsOf(before)[1];
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}/record/${request.seq}`);
    await page.getByRole("link", { name: "Playground" }).click();
    await page.getByRole("region", { name: "As it was" }).getByText("I look.").waitFor();
    const first = page.getByRole("region", { name: "Version 1" });
    await first.getByLabel("Result of the tool of version 1").fill("the playground says so");
    await first.getByLabel("Cost limit of version 1").fill("0.5");
    await page.getByRole("button", { name: "Add a version" }).click();
    const second = page.getByRole("region", { name: "Version 2" });
    await second.getByLabel("Instructions of version 2").fill("Be brief.");
    for (const version of [first, second]) {
      await version.getByRole("button", { name: "Send" }).click();
      await version.getByRole("status").getByText("I look.").waitFor();
      await version.getByRole("status").getByText("Calls kv, which is not run").waitFor();
    }
    const made = await first.getByRole("link", { name: /^Run / }).getAttribute("href");
    const fork = made.split("/").at(-1);
    const ended = await until(async () => { const now = await rig.api("/runs/" + fork); return now.termination !== null && now; }, "the version ends");
    assert.equal(ended.termination, "max_steps");
    const records = await rig.api(`/runs/${fork}/export`);
    assert.ok(JSON.stringify(records).includes("the playground says so"));
    assert.equal(records.find((record) => record.kind === "intervened").body.agent.limits.max_usd, 0.5);
    assert.equal(records.filter((record) => record.kind === "effect_intended" && record.body.kind === "tool" && record.seq > request.seq).length, 0, "no tool ran");
    assert.deepEqual(await rig.api(`/runs/${run}/export`), before);
    await rig.finish(page);
  });

  test("the files that a run changed are shown as a diff", async () => {
    const file = join(rig.place, "files/notes.txt");
    writeFileSync(file, "one\ntwo\n");
    const run = await rig.begin("writes", "Change the file");
    await rig.status(run, "awaiting_user");
    const page = await rig.tab();
    await page.goto(`${rig.url}/#/run/${run}`);
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await rig.status(run, "completed");
    assert.equal(readFileSync(file, "utf8"), "one\nthree\n");
    await page.getByRole("link", { name: "Files" }).click();
    await page.locator(".diff .removed").getByText("-two").waitFor();
    await page.locator(".diff .added").getByText("+three").waitFor();
    await rig.finish(page);
  });

  test("the doctor says what works, reached by keys", async () => {
    const page = await rig.tab();
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    const row = page.getByRole("row").filter({ hasText: "journal" }).first();
    await row.getByText("ok", { exact: true }).waitFor();
    const answer = await rig.api("/doctor");
    assert.equal(await page.locator("main tbody tr").count(), answer.checks.length);
    await page.getByRole("button", { name: "Check again" }).click();
    await page.getByRole("link", { name: "Settings" }).last().click();
    await page.getByRole("link", { name: /Doctor/ }).waitFor();
    await rig.finish(page);
  });
}

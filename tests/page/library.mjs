// Journeys through what agents share: prompts and their versions, and the memory.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "./rig.mjs";

export function library(rig) {
  test("a prompt shows what changed between two versions, and a label moves", async () => {
    for (const text of ["Be brief.\nAnswer in English.\n", "Be brief and kind.\nAnswer in English.\n", "Be brief and kind.\nAnswer in French.\n"]) {
      writeFileSync(join(rig.place, "greet.txt"), text);
      rig.command("prompts", "put", "greet", "greet.txt");
    }
    const page = await rig.tab();
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("list", { name: "Prompts" }).getByRole("link", { name: "greet" }).click();
    await page.waitForURL(/#\/prompts\/greet$/);
    const lines = page.locator(".diff span");
    await until(async () => (await lines.allInnerTexts()).some((line) => line.trim() === "+Answer in French."), "the last change is shown");
    assert.deepEqual((await lines.allInnerTexts()).map((line) => line.trimEnd()), [" Be brief and kind.", "-Answer in English.", "+Answer in French."]);
    await page.getByRole("combobox", { name: /^From/ }).selectOption("1");
    await until(async () => (await lines.allInnerTexts()).filter((line) => line.startsWith("-")).length === 2, "two lines changed since the first");
    await page.getByRole("combobox", { name: /^to/ }).selectOption("2");
    await page.getByLabel("Label").fill("production");
    await page.getByRole("button", { name: "Move to version 2" }).click();
    await page.getByRole("row").filter({ hasText: "production" }).filter({ has: page.getByRole("cell", { name: "2", exact: true }) }).waitFor();
    assert.deepEqual((await rig.api("/prompts/greet")).labels, [{ label: "production", version: "2" }]);
    await page.getByLabel("Label").fill("1st");
    await page.getByRole("button", { name: "Move to version 2" }).click();
    await page.locator(".failed").waitFor();
    await rig.finish(page);
  });

  test("a search of the memory says why it ranks", async () => {
    const page = await rig.tab();
    await page.goto(rig.url + "/#/memory");
    await page.getByText("The memory is empty.").waitFor();
    rig.command("memory", "add", "The harbour opens at nine.", "--key", "opening");
    rig.command("memory", "add", "Harbourmasters rest at noon.", "--key", "rest");
    rig.command("memory", "add", "Nothing of that.", "--key", "other");
    await page.getByLabel("Search").fill("harbour");
    const notes = page.getByRole("list", { name: "Notes" }).getByRole("listitem");
    await until(async () => (await notes.count()) === 2, "two notes are found");
    assert.match(await notes.first().innerText(), /opening[^]*The harbour opens at nine\.[^]*has harbour; whole words #1/);
    const found = (await rig.api("/memory?q=harbour")).notes;
    assert.deepEqual(found.map((note) => note.key), ["opening", "rest"]);
    await page.getByLabel("Search").fill("");
    await page.getByRole("combobox", { name: /^in/ }).selectOption("notes");
    await until(async () => (await notes.count()) === 3, "all notes of the collection");
    await rig.finish(page);
  });
}

// Which items of a conversation are drawn.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Elements, keysOf, mostDrawn, moved, placeOf, windowAt } from "../../web/src/model/item_window.ts";

test("a long conversation draws a bounded number of items, wherever one reads", () => {
  const [count, fill] = [100_000, 30];
  assert.deepEqual(windowAt(count, null, fill), { first: count - fill, last: count });
  assert.deepEqual(windowAt(7, null, fill), { first: 0, last: 7 });
  for (const from of [-moved, 0, 1, 50_000, count - fill, count - 1, count + 5]) {
    const { first, last } = windowAt(count, from, fill);
    assert.ok(first >= 0 && last <= count && last - first >= fill && last - first <= mostDrawn, `${first} to ${last}`);
    assert.ok(from < 0 || from > count - fill || first === from);
  }
  // A box that takes more is still full.
  assert.deepEqual(windowAt(count, 10, 500), { first: 10, last: 510 });
  assert.ok(moved < mostDrawn, "what is in sight stays drawn when the window moves");
});

test("the item of a record is found, and the next one for a record without an item", () => {
  const items = [2, 3, 3, 7, 9].map((seq) => ({ seq }));
  assert.deepEqual([1, 2, 3, 4, 9, 10].map((seq) => placeOf(items, seq)), [0, 0, 1, 3, 4, 5]);
  assert.equal(placeOf([], 5), 0);
});

test("an item keeps its key when others come before it", () => {
  const item = (seq: number, kind: string, call?: string) => ({ seq, kind, call });
  const items = [item(4, "text"), item(4, "text"), item(4, "call", "c1"), item(4, "call", "c2"), item(6, "note")];
  const keys = keysOf(items);
  assert.equal(new Set(keys).size, items.length);
  assert.deepEqual(keysOf([item(2, "message"), ...items]).slice(1), keys);
});

test("an element keeps its item, and draws another one only after a jump", () => {
  const items = (from: number) => Array.from({ length: 6 }, (_, at) => ({ seq: from + at, kind: (from + at) % 3 === 0 ? "call" : "text" }));
  const elements = new Elements();
  const first = elements.of(items(0), true);
  assert.equal(new Set(first).size, 6);
  assert.deepEqual(elements.of(items(0), true), first);
  assert.deepEqual(elements.of(items(2), true).slice(0, 4), first.slice(2), "a step keeps what is still shown");
  const before = elements.of(items(2), true);
  const jumped = elements.of(items(302), true);
  assert.deepEqual(jumped, before, "a jump to the same kinds makes no element");
  // Other kinds in other places: in order, each of its own kind, none twice.
  const shifted = elements.of(items(603), true);
  assert.equal(new Set(shifted).size, 6);
  const kept = shifted.filter((element) => jumped.includes(element));
  assert.ok(kept.length >= 4 && kept.every((element, at) => at === 0 || jumped.indexOf(element) > jumped.indexOf(kept[at - 1]!)), JSON.stringify([jumped, shifted]));
  shifted.forEach((element, at) => {
    const place = jumped.indexOf(element);
    if (place >= 0) assert.equal(items(302)[place]!.kind, items(603)[at]!.kind);
  });
  assert.ok(elements.of(items(900), false).every((element) => !shifted.includes(element)), "not if it is not wanted");
});

// Which items of a conversation are drawn: a bounded number of them, wherever one reads.

/** Items that are drawn at most, unless more fill the box; by how many the window moves. */
export const [mostDrawn, moved] = [120, 60];

/** From `first` up to and without `last`. */
export interface ItemWindow {
  first: number;
  last: number;
}

/** Where the item of a record is, or the one after it; the items of a conversation are in the order of their records. */
export function placeOf(items: readonly { seq: number }[], seq: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.seq < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The window that begins at `from`; null: the last `fill` items. */
export function windowAt(count: number, from: number | null, fill: number): ItemWindow {
  const first = Math.max(0, Math.min(from ?? count, count - fill));
  return { first, last: from === null ? count : Math.min(count, first + Math.max(mostDrawn, fill)) };
}

type Drawn = { kind: string; seq: number; live?: boolean; call?: string };

/** A name for each item that stays when others come in before them. */
export function keysOf(items: readonly Drawn[]): string[] {
  const counts = new Map<string, number>();
  return items.map(({ kind, seq, live = false, call = "" }) => {
    const name = `${seq} ${kind} ${live} ${call}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return `${name} ${count}`;
  });
}

/** So many elements are left out at most to find one of the same kind. */
const mostSkipped = 4;
/** The part of the items that a jump keeps in sight, at most. */
const mostKept = 1 / 3;

/** The elements that draw the items of a conversation, by number. */
export class Elements {
  private last: { name: string; kind: string; element: number }[] = [];
  private count = 0;

  /**
   * The element of each item: the one that drew it before, else a new one. With `reuse`, items of which few were drawn
   * before take all elements, in order, each one of its kind: to change an element costs less than to make one.
   */
  of(items: readonly Drawn[], reuse: boolean): number[] {
    const names = keysOf(items);
    const known = new Map(this.last.map(({ name, element }) => [name, element]));
    const isJump = reuse && names.filter((name) => known.has(name)).length < names.length * mostKept;
    const before = isJump ? this.last : [];
    let next = 0;
    const other = (kind: string) => {
      const found = before.slice(next, next + mostSkipped).findIndex((each) => each.kind === kind);
      if (found >= 0) next += found + 1;
      return found < 0 ? undefined : before[next - 1]!.element;
    };
    this.last = items.map(({ kind }, at) => ({ name: names[at]!, kind, element: (isJump ? other(kind) : known.get(names[at]!)) ?? ++this.count }));
    return this.last.map(({ element }) => element);
  }
}

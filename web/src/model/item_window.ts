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

/** A name for each item that stays when others come in before them. */
export function keysOf(items: readonly { kind: string; seq: number; live?: boolean; call?: string }[]): string[] {
  const counts = new Map<string, number>();
  return items.map(({ kind, seq, live = false, call = "" }) => {
    const name = `${seq} ${kind} ${live} ${call}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return `${name} ${count}`;
  });
}

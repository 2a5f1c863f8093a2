// Two runs side by side: their steps, and which of them belong together.

/** A step of a conversation, from the transcript of a run. */
export interface Step {
  kind: string;
  /** What it is, such as the tool or the role. */
  name: string;
  text: string;
  ms?: number;
}

export interface Pair {
  first?: Step;
  second?: Step;
  kind: "same" | "changed" | "first" | "second";
}

type Entry = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === "string" ? value : "");

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content
    .map((part: Entry) => {
      if (part.type === "call") return `${text(part.tool)} ${JSON.stringify(part.arguments ?? {})}`;
      return text(part.text) || `[${text(part.type)} ${text(part.name)}]`;
    })
    .join("\n");
}

function stepOf(item: Entry): Step | undefined {
  switch (item.type) {
    case "message":
      return { kind: "message", name: text(item.source) || text(item.role), text: contentText(item.content) };
    case "answer":
      return { kind: "answer", name: text(item.model), text: text(item.error) || contentText(item.content) };
    case "result":
      return { kind: "result", name: text(item.tool), text: text(item.error) || text(item.text), ms: Number(item.duration_ms ?? 0) };
    case "decision":
      return { kind: "decision", name: text(item.verb), text: text(item.text) };
    case "command":
      return { kind: "command", name: text(item.verb), text: text(item.text) };
    case "agent":
      return { kind: "agent", name: text(item.agent), text: "" };
    case "end":
      return { kind: "end", name: text(item.termination), text: text(item.error) };
    default:
      return undefined;
  }
}

export const stepsOf = (items: readonly object[]): Step[] => items.map((item) => stepOf(item as Entry)).filter((step) => step !== undefined);

const isSame = (a: Step, b: Step): boolean => a.kind === b.kind && a.name === b.name && a.text === b.text;

/** The most pairs of steps that are compared; beyond it, steps after the common beginning are paired in order. */
const mostPairs = 4_000_000;

/** How much it costs to put two steps beside each other; more than leaving each alone if they are of other kinds. */
function difference(a: Step, b: Step): number {
  if (isSame(a, b)) return 0;
  if (a.kind !== b.kind) return 3;
  return a.name === b.name ? 1 : 1.5;
}

function pairOf(first: Step, second: Step): Pair {
  return { first, second, kind: isSame(first, second) ? "same" : "changed" };
}

/** The steps of the rest, aligned so that they differ as little as possible. */
function alignRest(first: readonly Step[], second: readonly Step[]): Pair[] {
  const [rows, columns] = [first.length, second.length];
  const width = columns + 1;
  const costs = new Float32Array((rows + 1) * width);
  for (let i = rows; i >= 0; i--) {
    for (let j = columns; j >= 0; j--) {
      if (i === rows || j === columns) {
        costs[i * width + j] = rows - i + (columns - j);
        continue;
      }
      const both = costs[(i + 1) * width + j + 1]! + difference(first[i]!, second[j]!);
      costs[i * width + j] = Math.min(both, 1 + costs[(i + 1) * width + j]!, 1 + costs[i * width + j + 1]!);
    }
  }
  const pairs: Pair[] = [];
  for (let i = 0, j = 0; i < rows || j < columns; ) {
    const here = costs[i * width + j]!;
    if (i < rows && j < columns && here === Math.fround(costs[(i + 1) * width + j + 1]! + difference(first[i]!, second[j]!))) pairs.push(pairOf(first[i++]!, second[j++]!));
    else if (i < rows && (j === columns || here === 1 + costs[(i + 1) * width + j]!)) pairs.push({ first: first[i++]!, kind: "first" });
    else pairs.push({ second: second[j++]!, kind: "second" });
  }
  return pairs;
}

/** The steps of two runs in rows. */
export function align(first: readonly Step[], second: readonly Step[]): Pair[] {
  let common = 0;
  while (common < first.length && common < second.length && isSame(first[common]!, second[common]!)) common++;
  const pairs = first.slice(0, common).map((step, at) => pairOf(step, second[at]!));
  const [a, b] = [first.slice(common), second.slice(common)];
  if (a.length * b.length <= mostPairs) return [...pairs, ...alignRest(a, b)];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at], b[at]];
    if (left !== undefined && right !== undefined) pairs.push(pairOf(left, right));
    else pairs.push(left !== undefined ? { first: left, kind: "first" } : { second: right!, kind: "second" });
  }
  return pairs;
}

/** A piece of two texts; `both` is in both. */
export interface Piece {
  text: string;
  in: "both" | "first" | "second";
}

/** What differs between two texts: the common beginning and end, by words, and what is between. */
export function pieces(first: string, second: string): Piece[] {
  const words = (value: string) => value.match(/\s+|[^\s]+/g) ?? [];
  const [a, b] = [words(first), words(second)];
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const all: Piece[] = [
    { text: a.slice(0, begin).join(""), in: "both" },
    { text: a.slice(begin, a.length - end).join(""), in: "first" },
    { text: b.slice(begin, b.length - end).join(""), in: "second" },
    { text: a.slice(a.length - end).join(""), in: "both" },
  ];
  return all.filter((piece) => piece.text !== "");
}

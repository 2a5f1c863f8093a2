// Where the time of a run went: a lane for each agent, a bar for each model call, tool call and wait.
import type { RunState, Span } from "./run_state.ts";
import { rows } from "./tree.ts";

export interface Bar {
  span: Span;
  /** Both from 0 to 1, within the window. */
  left: number;
  width: number;
  /** Bars of a lane that happen at once lie below each other. */
  level: number;
}
export interface Lane {
  agent: string;
  name: string;
  depth: number;
  levels: number;
  bars: Bar[];
}
export interface Window {
  from: number;
  to: number;
}

/** The time from the first to the last thing that a run did; of at least a millisecond. */
export function extent(spans: readonly Span[], now: number): Window {
  let from = Infinity;
  let to = -Infinity;
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to ?? now);
  }
  return spans.length === 0 ? { from: now, to: now + 1 } : { from, to: Math.max(to, from + 1) };
}

/** Bars that are nearer than this to one of their kind are drawn as one, so that their number is bounded. */
const finest = 1 / 1200;

function add(bars: Bar[], last: Partial<Record<Span["kind"], Bar>>[], bar: Bar): void {
  const ofLevel = (last[bar.level] ??= {});
  const before = ofLevel[bar.span.kind];
  const end = before === undefined ? 0 : before.left + before.width;
  if (before !== undefined && bar.width < finest && bar.left - end < finest) {
    before.width = Math.max(before.width, bar.left + bar.width - before.left);
    return;
  }
  bars.push(bar);
  ofLevel[bar.span.kind] = bar;
}

/** Lanes in the order of the tree. Spans outside of the window are left out. */
export function lanes(run: RunState, window: Window, now: number): Lane[] {
  const length = window.to - window.from;
  const all = new Map<string, { lane: Lane; busy: number[]; last: Parameters<typeof add>[1] }>();
  for (const { agent, depth } of rows(run, new Set())) {
    all.set(agent.id, { lane: { agent: agent.id, name: agent.name, depth, levels: 1, bars: [] }, busy: [], last: [] });
  }
  for (const span of run.spans) {
    const found = all.get(span.agent);
    const to = Math.max(span.to ?? now, span.from);
    if (found === undefined || to < window.from || span.from > window.to) continue;
    const { lane, busy, last } = found;
    let level = busy.findIndex((end) => end <= span.from);
    if (level < 0) level = busy.length;
    busy[level] = to;
    lane.levels = Math.max(lane.levels, level + 1);
    const left = Math.max(0, (span.from - window.from) / length);
    const right = Math.min(1, (to - window.from) / length);
    add(lane.bars, last, { span, left, width: Math.max(0, right - left), level });
  }
  return [...all.values()].map(({ lane }) => lane);
}

/** The window with `factor` of its length (below 1: closer) around `at`, from 0 to 1; never beyond `whole`. */
export function zoomed(window: Window, whole: Window, factor: number, at: number): Window {
  const length = Math.min((window.to - window.from) * factor, whole.to - whole.from);
  if (length < 1) return window;
  const middle = window.from + (window.to - window.from) * at;
  const from = Math.min(Math.max(middle - length * at, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** How long things of each kind took in all, before `until`. */
export function totals(spans: readonly Span[], now: number, until = Infinity): Record<Span["kind"], number> {
  const sums = { model: 0, tool: 0, wait: 0 };
  for (const span of spans) sums[span.kind] += Math.max(0, Math.min(span.to ?? now, until) - span.from);
  return sums;
}

const [barHeight, aroundBars] = [12, 13]; // pixels: of a level of bars, and of the rest of a lane

/** The height of the bars of a lane, in pixels. */
export const heightOf = (lane: Lane): number => lane.levels * barHeight;
/** How far below the top of its lane a level of bars begins, in pixels. */
export const topOf = (level: number): number => level * barHeight;

/** Where each lane begins, in pixels from the top; then where the last one ends. */
export function laneTops(all: readonly Lane[]): number[] {
  const tops = [0];
  for (const lane of all) tops.push(tops.at(-1)! + heightOf(lane) + aroundBars);
  return tops;
}

/** The number of the lane at `y` pixels from the top; the first or last one beyond them. */
export function laneAt(tops: readonly number[], y: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

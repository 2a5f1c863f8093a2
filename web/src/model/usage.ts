// Sums of tokens and cost, and tables as CSV.
import type { EffectStats, StatsTable, UsageRow } from "../api/types.ts";
import { duration } from "./words.ts";

export interface Sum {
  name: string;
  calls: number;
  input: number;
  output: number;
  cached: number;
  total: number;
  /** Null if a price is not known. */
  cost: number | null;
}

/** A row for each value of a column: days in their order, the rest with the most tokens first. */
export function sums(rows: readonly UsageRow[], column: "day" | "agent" | "model"): Sum[] {
  const all = new Map<string, Sum>();
  for (const row of rows) {
    const sum = all.get(row[column]) ?? { name: row[column], calls: 0, input: 0, output: 0, cached: 0, total: 0, cost: 0 };
    sum.calls += row.calls;
    sum.input += row.usage.input ?? 0;
    sum.output += row.usage.output ?? 0;
    sum.cached += row.usage.cache_read ?? 0;
    sum.total += row.usage.total;
    sum.cost = sum.cost === null || row.cost_usd === null ? null : sum.cost + row.cost_usd;
    all.set(row[column], sum);
  }
  const byName = (a: Sum, b: Sum) => (a.name < b.name ? 1 : -1);
  return [...all.values()].sort(column === "day" ? byName : (a, b) => b.total - a.total || byName(b, a));
}

/** A bar of a chart: a day, with what it is made of from the bottom up. */
export interface DayBar {
  day: string;
  parts: { name: string; amount: number }[];
  total: number;
}

/** A bar for each day from the first to the last, also for those without a call. */
export function dayBars(rows: readonly UsageRow[], from: string, until: string, of: "tokens" | "cost"): DayBar[] {
  const found = new Map(sums(rows, "day").map((sum) => [sum.name, sum]));
  const bars: DayBar[] = [];
  for (let at = Date.parse(from); at <= Date.parse(until); at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    const sum = found.get(day);
    const fresh = Math.max(0, (sum?.input ?? 0) - (sum?.cached ?? 0));
    const parts = of === "cost" ? [{ name: "cost", amount: sum?.cost ?? 0 }] : [{ name: "input", amount: fresh }, { name: "cached", amount: sum?.cached ?? 0 }, { name: "output", amount: sum?.output ?? 0 }];
    bars.push({ day, parts, total: parts.reduce((all, part) => all + part.amount, 0) });
  }
  return bars;
}

/** The smallest of 1, 2 and 5 times a power of ten that is not below the amount: the top of an axis. */
export function top(amount: number): number {
  if (amount <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(amount));
  return ([1, 2, 5].find((each) => each * power >= amount * (1 - 1e-9)) ?? 10) * power;
}

/** A cell of a table: what is shown, and what is saved. */
export interface Cell {
  shown: string;
  saved: string | number | null;
}
export interface Figures {
  heads: string[];
  rows: { name: string; cells: Cell[] }[];
}

const plain = (amount: number): Cell => ({ shown: String(amount), saved: amount });
const time = (ms: number): Cell => ({ shown: duration(ms), saved: ms });
const rate = (share: number | null): Cell => ({ shown: share === null ? "" : Math.round(share * 100) + " %", saved: share });

/** How agents, models or tools did: tools have calls alone. */
export function figures(table: StatsTable): Figures {
  const calls = (of: EffectStats) => [plain(of.calls), plain(of.errors), plain(of.retries), time(of.median_ms), time(of.p95_ms)];
  if (table.by === "tool") {
    return { heads: ["Calls", "Failed", "Retries", "Median", "95 %"], rows: table.rows.map((row) => ({ name: row.name ?? "", cells: calls(row.tool_calls) })) };
  }
  return {
    heads: ["Turns", "Finished", "Steps", "Model calls", "Failed", "Retries", "Median", "95 %", "Tool calls", "Failed tools", "Waited", "of it for people"],
    rows: table.rows.map((row) => ({
      name: row.name ?? "",
      cells: [
        plain(row.turns), rate(row.success_rate), plain(row.steps), ...calls(row.model_calls),
        plain(row.tool_calls.calls), plain(row.tool_calls.errors), time(row.waiting.total_ms), time(row.waiting.people_ms),
      ],
    })),
  };
}

/** A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csv(heads: readonly string[], rows: readonly (string | number | null)[][]): string {
  const cell = (value: string | number | null) => {
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value ?? "") ? "'" + value : (value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [heads, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

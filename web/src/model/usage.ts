// Sums of tokens and cost, and tables as CSV.
import type { UsageRow } from "../api/types.ts";

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

/** A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csv(heads: readonly string[], rows: readonly (string | number | null)[][]): string {
  const cell = (value: string | number | null) => {
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value ?? "") ? "'" + value : (value ?? "");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [heads, ...rows].map((row) => row.map(cell).join(",") + "\r\n").join("");
}

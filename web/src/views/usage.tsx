// Tokens and cost of model calls, as tables.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { StatsReport, StatsTable, UsageReport } from "../api/types.ts";
import { csv, dayBars, figures, sums, top, type Sum } from "../model/usage.ts";
import { cost, tokens } from "../model/words.ts";
import { Failed } from "../ui/parts.tsx";

const report = signal<UsageReport | null>(null);
const stats = signal<StatsReport | null>(null);
const error = signal("");
const range = signal({ from: "", until: "" });

async function read(): Promise<void> {
  try {
    report.value = await call("GET /api/v1/usage", { query: range.value });
    stats.value = await call("GET /api/v1/stats", { query: { ...range.value, by: "agent,tool,tenant" } });
    error.value = "";
  } catch (refusal) {
    error.value = (refusal as Error).message;
  }
}

const heads = ["calls", "input", "output", "cached", "total", "cost_usd"];

type Saved = Parameters<typeof csv>[1][number];

function download(what: string, columns: string[], rows: Saved[]): void {
  const text = csv(columns, rows);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `praxis-${what}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function save(column: string, rows: Sum[]): void {
  download(`usage-by-${column}`, [column, ...heads], rows.map((row) => [row.name, row.calls, row.input, row.output, row.cached, row.total, row.cost]));
}

function Table({ column, title, shown }: { column: "day" | "agent" | "model"; title: string; shown: UsageReport }) {
  const rows = sums(shown.rows, column);
  return (
    <section aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        <button type="button" class="plain" onClick={() => save(column, rows)} disabled={rows.length === 0}>CSV</button>
      </header>
      <div class="wide" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{column}</th>
              {["Calls", "Input", "Output", "From cache", "Tokens", "Cost"].map((head) => <th key={head} scope="col" class="number">{head}</th>)}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <td>{row.name}</td>
                <td class="number">{row.calls}</td>
                {[row.input, row.output, row.cached, row.total].map((count, at) => <td key={at} class="number" title={String(count)}>{tokens(count)}</td>)}
                <td class="number">{cost(row.cost)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const titles: Record<string, string> = { agent: "How agents did", tool: "How tools did", tenant: "How tenants did" };

/** Success, steps, errors and times. Without tenants there is nothing to tell apart. */
function Measures({ table }: { table: StatsTable }) {
  const title = titles[table.by]!;
  const shown = figures(table);
  if (shown.rows.every((row) => row.name === "")) return null;
  const saved = () => download(`measures-by-${table.by}`, [table.by, ...shown.heads], shown.rows.map((row) => [row.name, ...row.cells.map((cell) => cell.saved)]));
  return (
    <section aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        <button type="button" class="plain" onClick={saved}>CSV</button>
      </header>
      <div class="wide" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">{table.by}</th>
              {shown.heads.map((head, at) => <th key={at} scope="col" class="number">{head}</th>)}
            </tr>
          </thead>
          <tbody>
            {shown.rows.map((row) => (
              <tr key={row.name}>
                <td>{row.name === "" ? "-" : row.name}</td>
                {row.cells.map((cell, at) => <td key={at} class="number">{cell.shown}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const chosen = signal<"tokens" | "cost">("tokens");
const names: Record<string, string> = { input: "input", cached: "from cache", output: "output", cost: "cost" };
const [height, gap] = [120, 0.2];

/** A bar for each day. The numbers are in the table below it. */
function Chart({ shown }: { shown: UsageReport }) {
  const of = chosen.value;
  const bars = dayBars(shown.rows, shown.from, shown.until, of);
  const most = top(Math.max(0, ...bars.map((bar) => bar.total)));
  const words = of === "cost" ? cost : tokens;
  const kinds = of === "cost" ? ["cost"] : ["input", "cached", "output"];
  let best = bars[0];
  for (const bar of bars) if (best === undefined || bar.total > best.total) best = bar;
  const label = `${of === "cost" ? "Cost" : "Tokens"} by day from ${shown.from} to ${shown.until}` + (best === undefined ? "" : `; most on ${best.day}: ${words(best.total)}`);
  return (
    <figure class="chart">
      <figcaption>
        <span class="segments">
          {(["tokens", "cost"] as const).map((name) => (
            <button key={name} type="button" aria-pressed={of === name} onClick={() => (chosen.value = name)}>{name === "cost" ? "Cost" : "Tokens"}</button>
          ))}
        </span>
        {kinds.map((kind) => <span key={kind} class="legend"><i class={kind} aria-hidden="true" />{names[kind]}</span>)}
        <span class="quiet">{of === "cost" && shown.rows.some((row) => row.cost_usd === null) ? "calls without a known price are left out" : ""}</span>
      </figcaption>
      <svg role="img" aria-label={label} viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`} preserveAspectRatio="none">
        {bars.map((bar, at) => {
          let y = height;
          return (
            <g key={bar.day}>
              <title>{`${bar.day}: ${words(bar.total)}` + (bar.parts.length > 1 ? ` (${bar.parts.map((part) => `${words(part.amount)} ${names[part.name]}`).join(", ")})` : "")}</title>
              <rect x={at} y={0} width={1} height={height} class="day" />
              {bar.parts.map((part) => {
                const size = (part.amount / most) * height;
                y -= size;
                return <rect key={part.name} class={part.name} x={at + gap / 2} width={1 - gap} y={y} height={size} />;
              })}
            </g>
          );
        })}
      </svg>
      <div class="axis quiet" aria-hidden="true"><span>{shown.from}</span><span>top: {words(most)}</span><span>{shown.until}</span></div>
    </figure>
  );
}

export function UsageView() {
  useEffect(() => effect(() => { void range.value; void read(); }), []);
  const shown = report.value;
  const day = (name: "from" | "until", label: string) => (
    <label>
      {label} <input type="date" value={range.value[name] || shown?.[name] || ""} onChange={(event) => (range.value = { ...range.value, [name]: event.currentTarget.value })} />
    </label>
  );
  return (
    <main class="page">
      <h1>Usage</h1>
      <div class="filters">{day("from", "From")}{day("until", "until")}<span class="quiet">days are UTC</span></div>
      <Failed error={error.value} />
      {shown !== null && !shown.complete && <p class="quiet">There are more than 10,000 sessions in this time; those that were written to last are counted.</p>}
      {shown !== null && shown.rows.length === 0 && <p class="empty">No model was called in this time.</p>}
      {shown !== null && shown.rows.length > 0 && (
        <div class="tables">
          <Chart shown={shown} />
          <Table column="day" title="By day" shown={shown} />
          <Table column="agent" title="By agent" shown={shown} />
          <Table column="model" title="By model" shown={shown} />
          {stats.value?.complete === false && <p class="quiet">There are more than 10,000 sessions in this time; the measures below are of those that were written to last.</p>}
          {stats.value?.tables.map((table) => <Measures key={table.by} table={table} />)}
        </div>
      )}
    </main>
  );
}

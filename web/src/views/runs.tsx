// The runs: found, filtered, selected, live; and a form that starts one.
import { computed, effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { RunRow } from "../api/types.ts";
import { changes } from "../live.ts";
import { cost, moment, shortId, tokens } from "../model/words.ts";
import { addressOf, filterOf, queryOf, stillListed, type RunFilter } from "../model/run_filter.ts";
import { address, go, place } from "../router.ts";
import { useKeys } from "../ui/keys.ts";
import { Failed, Status } from "../ui/parts.tsx";
import { later } from "../ui/load.tsx";
import { RunFilters } from "./run_filters.tsx";
import { RunSelection } from "./run_selection.tsx";

const StartForm = later(() => import("./start_form.tsx").then((part) => part.StartForm));

/** How often runs at work are read again: what they used grows between the events. */
const whileTheyWork = 2000;

const words = computed(() => (place.value.view === "runs" ? (place.value.filter ?? "") : ""));
const filter = computed(() => filterOf(words.value));
const change = (to: RunFilter) => go({ view: "runs", filter: addressOf(to) }, true);
const runs = signal<RunRow[]>([]);
const next = signal<string | null>(null);
const error = signal("");
const isRead = signal(false);
const starts = signal(false);
const selected = signal<ReadonlySet<string>>(new Set());
const asks = signal(false);
const chosen = computed(() => runs.value.filter((run) => selected.value.has(run.id)));
export const agents = signal<string[]>([]);

let latest = 0;

/** Reads the first page again, or adds the one after the last run. */
async function read(before?: string): Promise<void> {
  const mine = ++latest;
  try {
    const limit = before === undefined ? Math.min(100, Math.max(50, runs.peek().length)) : 50;
    const page = await call("GET /api/v1/runs", { query: { ...queryOf(filter.peek()), limit, before } });
    if (mine !== latest) return;
    runs.value = before === undefined ? page.runs : [...runs.peek(), ...page.runs];
    next.value = page.next;
    if (selected.peek().size > 0) selected.value = stillListed(selected.peek(), runs.peek());
    error.value = "";
  } catch (refusal) {
    if (mine === latest) error.value = (refusal as Error).message;
  }
  isRead.value = true;
}

function toggle(id: string): void {
  const to = new Set(selected.peek());
  if (!to.delete(id)) to.add(id);
  selected.value = to;
}

function Row({ run }: { run: RunRow }) {
  const to = address({ view: "run", run: run.id });
  return (
    <tr>
      <td class="box">
        <input type="checkbox" aria-label={`Select ${run.title || run.id}`} checked={selected.value.has(run.id)} onChange={() => toggle(run.id)} />
      </td>
      <td><Status status={run.status} /></td>
      <td class="title">
        <a href={to} dir="auto">{run.title || "without a title"}</a>
        {run.tags.map((tag) => <span key={tag} class="tag" dir="auto">{tag}</span>)}
      </td>
      <td>{run.agent}</td>
      <td class="wide-only quiet" title={run.model}>{run.model.replace(/^.*\//, "")}</td>
      <td class="number wide-only">{run.records}</td>
      <td class="number">{tokens(run.tokens)}</td>
      <td class="number wide-only">{cost(run.cost_usd)}</td>
      <td class="number quiet"><time dateTime={run.updated_at}>{moment(run.updated_at)}</time></td>
      <td class="quiet mono wide-only" title={run.id}>{shortId(run.id)}</td>
    </tr>
  );
}

/** Selects all runs that are shown, or none. */
function SelectAll() {
  const some = selected.value.size > 0, all = some && selected.value.size === runs.value.length;
  return (
    <input
      type="checkbox" aria-label="Select all shown" checked={all} indeterminate={some && !all}
      onChange={() => (selected.value = new Set(all ? [] : runs.peek().map((run) => run.id)))}
    />
  );
}

/** The run whose link has the focus. */
function focused(): string | undefined {
  const links = [...document.querySelectorAll("table.runs .title a")];
  return runs.peek()[links.indexOf(document.activeElement as Element)]?.id;
}

/** Moves the focus among the links of the list. */
function move(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("table.runs .title a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

export function Runs() {
  useEffect(() => {
    void call("GET /api/v1/agents", {}).then((answer) => (agents.value = answer.agents.map((each) => each.name)), () => undefined);
    const ends = effect(() => {
      void words.value;
      void changes.value;
      void read();
    });
    const timer = setInterval(() => {
      if (!document.hidden && runs.peek().some((run) => run.status === "running")) void read();
    }, whileTheyWork);
    return () => {
      clearInterval(timer);
      ends();
    };
  }, []);
  useKeys("Runs", () => [
    { key: "/", does: "search", run: () => document.getElementById("search")?.focus() },
    { key: "n", does: "start a run", run: () => (starts.value = true) },
    { key: "j", does: "next run", run: () => move(1) },
    { key: "k", does: "run before", run: () => move(-1) },
    { key: "x", does: "select the run", run: () => void (focused() && toggle(focused()!)) },
    { key: "d", does: "delete what is selected", run: () => (asks.value = chosen.value.length > 0) },
  ]);
  return (
    <main class="page">
      <h1 class="unseen">Runs</h1>
      <RunFilters filter={filter.value} change={change} agents={agents.value} start={() => (starts.value = true)} />
      <RunSelection runs={chosen.value} select={(ids) => (selected.value = ids)} changed={() => void read()} asks={asks.value} ask={(to) => (asks.value = to)} />
      <Failed error={error.value} />
      {runs.value.length > 0 ? (
        <table class="runs">
          <thead>
            <tr>
              <td class="box"><SelectAll /></td>
              <th scope="col">Status</th><th scope="col">Task</th><th scope="col">Agent</th>
              <th scope="col" class="wide-only">Model</th><th scope="col" class="number wide-only">Records</th>
              <th scope="col" class="number">Tokens</th><th scope="col" class="number wide-only">Cost</th>
              <th scope="col" class="number">Changed</th><th scope="col" class="wide-only">Id</th>
            </tr>
          </thead>
          <tbody>{runs.value.map((run) => <Row key={run.id} run={run} />)}</tbody>
        </table>
      ) : (
        isRead.value && error.value === "" && <p class="empty">{words.value === "" ? "There are no runs here. Start one with “Start a run”, or from a terminal." : "No run fits these filters."}</p>
      )}
      {next.value !== null && (
        <p class="center"><button type="button" onClick={() => void read(next.value ?? undefined)}>Show more</button></p>
      )}
      {starts.value && <StartForm agents={agents.value} close={() => (starts.value = false)} started={(run) => { starts.value = false; go({ view: "run", run }); }} />}
    </main>
  );
}

// The runs: found, filtered, live; and a form that starts one.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { RunRow } from "../api/types.ts";
import { changes } from "../live.ts";
import { cost, moment, shortId, tokens } from "../model/words.ts";
import { address, go } from "../router.ts";
import { useKeys } from "../ui/keys.ts";
import { Failed, Status } from "../ui/parts.tsx";
import { later } from "../ui/load.tsx";

const StartForm = later(() => import("./start_form.tsx").then((part) => part.StartForm));

const statuses = ["running", "awaiting_user", "completed", "error", "cancelled", "interrupted", "deleted", "idle"];
const filter = signal({ q: "", agent: "", status: "" });
const runs = signal<RunRow[]>([]);
const next = signal<string | null>(null);
const error = signal("");
const isRead = signal(false);
const starts = signal(false);
export const agents = signal<string[]>([]);

let latest = 0;

/** Reads the first page again, or adds the one after the last run. */
async function read(before?: string): Promise<void> {
  const mine = ++latest;
  try {
    const limit = before === undefined ? Math.min(100, Math.max(50, runs.peek().length)) : 50;
    const page = await call("GET /api/v1/runs", { query: { ...filter.peek(), limit, before } });
    if (mine !== latest) return;
    runs.value = before === undefined ? page.runs : [...runs.peek(), ...page.runs];
    next.value = page.next;
    error.value = "";
  } catch (refusal) {
    if (mine === latest) error.value = (refusal as Error).message;
  }
  isRead.value = true;
}

function Filters() {
  const set = (part: Partial<typeof filter.value>) => (filter.value = { ...filter.value, ...part });
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <input
        id="search" type="search" placeholder="Search titles" aria-label="Search titles" value={filter.value.q}
        onInput={(event) => set({ q: event.currentTarget.value })}
      />
      <select aria-label="Agent" value={filter.value.agent} onChange={(event) => set({ agent: event.currentTarget.value })}>
        <option value="">All agents</option>
        {agents.value.map((name) => <option key={name}>{name}</option>)}
      </select>
      <select aria-label="Status" value={filter.value.status} onChange={(event) => set({ status: event.currentTarget.value })}>
        <option value="">Any status</option>
        {statuses.map((name) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}
      </select>
      <button type="button" class="main" onClick={() => (starts.value = true)}>Start a run</button>
    </form>
  );
}

function Row({ run }: { run: RunRow }) {
  const to = address({ view: "run", run: run.id });
  return (
    <tr>
      <td><Status status={run.status} /></td>
      <td class="title"><a href={to} dir="auto">{run.title || "without a title"}</a></td>
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

/** Moves the focus among the links of the list. */
function move(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("table.runs .title a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

export function Runs() {
  useEffect(() => {
    void call("GET /api/v1/agents", {}).then((answer) => (agents.value = answer.agents.map((each) => each.name)), () => undefined);
    return effect(() => {
      void filter.value;
      void changes.value;
      void read();
    });
  }, []);
  useKeys("Runs", () => [
    { key: "/", does: "search", run: () => document.getElementById("search")?.focus() },
    { key: "n", does: "start a run", run: () => (starts.value = true) },
    { key: "j", does: "next run", run: () => move(1) },
    { key: "k", does: "run before", run: () => move(-1) },
  ]);
  return (
    <main class="page">
      <h1 class="unseen">Runs</h1>
      <Filters />
      <Failed error={error.value} />
      {runs.value.length > 0 ? (
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">Status</th><th scope="col">Task</th><th scope="col">Agent</th>
              <th scope="col" class="wide-only">Model</th><th scope="col" class="number wide-only">Records</th>
              <th scope="col" class="number">Tokens</th><th scope="col" class="number wide-only">Cost</th>
              <th scope="col" class="number">Changed</th><th scope="col" class="wide-only">Id</th>
            </tr>
          </thead>
          <tbody>{runs.value.map((run) => <Row key={run.id} run={run} />)}</tbody>
        </table>
      ) : (
        isRead.value && error.value === "" && <p class="empty">There are no runs here. Start one with “Start a run”, or from a terminal.</p>
      )}
      {next.value !== null && (
        <p class="center"><button type="button" onClick={() => void read(next.value ?? undefined)}>Show more</button></p>
      )}
      {starts.value && <StartForm agents={agents.value} close={() => (starts.value = false)} started={(run) => { starts.value = false; go({ view: "run", run }); }} />}
    </main>
  );
}

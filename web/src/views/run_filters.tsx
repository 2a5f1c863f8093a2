// The fields with which runs are chosen for the list. What they say is in the address.
import { noFilter, saysMore, type RunFilter } from "../model/run_filter.ts";

const statuses = ["running", "queued", "awaiting_user", "completed", "error", "cancelled", "interrupted", "deleted", "idle"];

const fields = [
  { name: "model", label: "Model", type: "text" },
  { name: "tag", label: "Tag", type: "text" },
  { name: "from", label: "Changed from", type: "date" },
  { name: "until", label: "Changed until", type: "date" },
  { name: "least", label: "Cost at least ($)", type: "number" },
  { name: "most", label: "Cost at most ($)", type: "number" },
] as const;

interface Props {
  filter: RunFilter;
  change: (filter: RunFilter) => void;
  agents: string[];
  start: () => void;
}

export function RunFilters({ filter, change, agents, start }: Props) {
  const set = (name: keyof RunFilter) => (event: { currentTarget: { value: string } }) => change({ ...filter, [name]: event.currentTarget.value });
  const isSet = Object.values(filter).some((text) => text !== "");
  // An agent of an address stays chosen before the agents are known.
  const names = filter.agent === "" || agents.includes(filter.agent) ? agents : [filter.agent, ...agents];
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <input id="search" type="search" placeholder="Search titles" aria-label="Search titles" value={filter.q} onInput={set("q")} />
      <select aria-label="Agent" value={filter.agent} onChange={set("agent")}>
        <option value="">All agents</option>
        {names.map((name) => <option key={name}>{name}</option>)}
      </select>
      <select aria-label="Status" value={filter.status} onChange={set("status")}>
        <option value="">Any status</option>
        {statuses.map((name) => <option key={name} value={name}>{name.replaceAll("_", " ")}</option>)}
      </select>
      <button type="button" class="main" onClick={start}>Start a run</button>
      <details class="more" open={saysMore(filter)}>
        <summary>More filters</summary>
        <div class="inline">
          {fields.map(({ name, label, type }) => (
            <label key={name}>
              {label}
              {type === "text" && <input type="text" value={filter[name]} onInput={set(name)} />}
              {type === "date" && <input type="date" value={filter[name]} onInput={set(name)} />}
              {type === "number" && <input type="number" min="0" step="any" value={filter[name]} onInput={set(name)} />}
            </label>
          ))}
        </div>
      </details>
      {isSet && <button type="button" class="plain" onClick={() => change(noFilter)}>Clear filters</button>}
    </form>
  );
}

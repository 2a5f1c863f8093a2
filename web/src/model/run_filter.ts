// Which runs are listed, as the address has it and as the server is asked.

export interface RunFilter {
  q: string;
  agent: string;
  model: string;
  status: string;
  tag: string;
  /** Days in the reader's zone, such as 2026-01-31. */
  from: string;
  until: string;
  /** US dollars. */
  least: string;
  most: string;
}

export const noFilter: RunFilter = { q: "", agent: "", model: "", status: "", tag: "", from: "", until: "", least: "", most: "" };
const names = Object.keys(noFilter) as (keyof RunFilter)[];

/** Reads what `addressOf` writes; what it does not know is left out. */
export function filterOf(text: string): RunFilter {
  const given = new URLSearchParams(text);
  return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ""])) as unknown as RunFilter;
}

/** The filter as the end of an address, empty without one. */
export function addressOf(filter: RunFilter): string {
  return new URLSearchParams(names.filter((name) => filter[name] !== "").map((name) => [name, filter[name]])).toString();
}

/** The first moment of a day in the reader's zone, `later` days after it; empty if that is no day. */
function moment(day: string, later: number): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (parts === null) return "";
  const time = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later);
  return Number.isNaN(time.getTime()) ? "" : new Date(time.getTime() - later).toISOString();
}

/** The filter as the server takes it: a day is the whole day in the reader's zone. */
export function queryOf(filter: RunFilter): Record<string, string> {
  const { q, agent, model, status, tag } = filter;
  return { q, agent, model, status, tag, from: moment(filter.from, 0), until: moment(filter.until, 1), min_cost: filter.least, max_cost: filter.most };
}

/** Whether the filter says more than what the first row of fields has. */
export const saysMore = (filter: RunFilter): boolean =>
  [filter.model, filter.tag, filter.from, filter.until, filter.least, filter.most].some((text) => text !== "");

/** The ids that remain selected: of runs that are still listed. */
export function stillListed(selected: ReadonlySet<string>, listed: readonly { id: string }[]): ReadonlySet<string> {
  return new Set(listed.filter((run) => selected.has(run.id)).map((run) => run.id));
}

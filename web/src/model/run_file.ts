// A run that is inside of the page: what `praxis export --format html` writes.
import type { RunEvent, StoredRecord } from "../api/types.ts";

export interface RunFile {
  run_id: string;
  events: RunEvent[];
  /** By agent, in order, from the first. */
  records: Record<string, StoredRecord[]>;
}

interface Given {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
}

/** Answers what the view of a run asks a server, as far as it only looks. Throws for the rest. */
export function answersOf(file: RunFile): (route: string, needs: Given) => unknown {
  return (route, { path, query }) => {
    const id = path?.id ?? "";
    if (route === "GET /api/v1/runs/{id}/history") {
      const isFirst = query?.before === undefined;
      return { run_id: file.run_id, events: isFirst ? file.events : [], agents: [], has_earlier: false, last_event_id: file.events.at(-1)?.id ?? "0.0" };
    }
    if (route === "GET /api/v1/runs/{id}/records") {
      const all = file.records[id] ?? [];
      const from = Number(query?.from ?? 1);
      return { records: all.slice(from - 1, from - 1 + Number(query?.limit ?? 100)), total: all.length };
    }
    if (route === "GET /api/v1/runs/{id}/branches") return { branches: [] };
    throw new Error("This is a file; a server would know.");
  };
}

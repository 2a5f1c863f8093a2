// What is done to the runs that are selected in the list: exported, or deleted.
import { useSignal } from "@preact/signals";
import { call, load } from "../api/client.ts";
import type { RunRow } from "../api/types.ts";
import { Dialog, Failed } from "../ui/parts.tsx";

const counted = (count: number) => `${count} ${count === 1 ? "run" : "runs"}`;

async function save(run: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await load(`/api/v1/runs/${encodeURIComponent(run)}/export`));
  link.download = `${run}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function Confirm({ runs, confirm, close }: { runs: RunRow[]; confirm: () => void; close: () => void }) {
  return (
    <Dialog title={`Delete ${counted(runs.length)} for good?`} close={close}>
      <div class="fields">
        <p>They are removed with their sub-agents, and cannot be brought back. A run that is not finished stays.</p>
        <ul>
          {runs.slice(0, 10).map((run) => <li key={run.id} dir="auto">{run.title || run.id}</li>)}
          {runs.length > 10 && <li>and {runs.length - 10} more</li>}
        </ul>
        <div class="buttons">
          <button type="button" onClick={close}>Keep</button>
          <button type="button" class="danger" onClick={confirm}>Delete for good</button>
        </div>
      </div>
    </Dialog>
  );
}

interface Props {
  runs: RunRow[];
  /** These stay selected. */
  select: (ids: ReadonlySet<string>) => void;
  /** Some runs are gone: the list is to be read again. */
  changed: () => void;
  asks: boolean;
  ask: (asks: boolean) => void;
}

export function RunSelection({ runs, select, changed, asks, ask }: Props) {
  const error = useSignal("");
  const done = useSignal("");
  const isBusy = useSignal(false);
  /** Does it to one run after the other; those that it is refused for stay selected. */
  const each = async (work: (run: RunRow) => Promise<unknown>, words: string) => {
    isBusy.value = true;
    error.value = done.value = "";
    const refused = new Map<string, string>();
    for (const run of runs) await work(run).catch((refusal: Error) => refused.set(run.id, refusal.message));
    select(new Set(refused.keys()));
    error.value = [...new Set(refused.values())].join("\n");
    done.value = refused.size === runs.length ? "" : `${counted(runs.length - refused.size)} ${words}`;
    isBusy.value = false;
  };
  const remove = async () => {
    ask(false);
    await each((run) => call("DELETE /api/v1/runs/{id}", { path: { id: run.id } }), "deleted");
    changed();
  };
  return (
    <>
      {runs.length > 0 && (
        <div class="selection" role="toolbar" aria-label="Selected runs">
          <b>{counted(runs.length)} selected</b>
          <button type="button" disabled={isBusy.value} onClick={() => void each((run) => save(run.id), "exported")}>Export</button>
          <button type="button" class="danger" disabled={isBusy.value} onClick={() => ask(true)}>Delete</button>
          <button type="button" class="plain" onClick={() => select(new Set())}>Clear selection</button>
        </div>
      )}
      <p class="quiet" role="status">{done.value}</p>
      <Failed error={error.value} />
      {asks && runs.length > 0 && <Confirm runs={runs} confirm={() => void remove()} close={() => ask(false)} />}
    </>
  );
}

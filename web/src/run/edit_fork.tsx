// A branch in which a record says something else: message, answer, arguments of a call, result of a tool, or the
// instructions of a request; and the model that goes on.
import { useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import { instructionsAt, recordOf } from "../api/records.ts";
import type { StoredRecord } from "../api/types.ts";
import { asksForAnswer, type Editable, editablesOf, forkBody } from "../model/edits.ts";
import { pretty } from "../model/words.ts";
import { address, go } from "../router.ts";
import { Failed, TextArea } from "../ui/parts.tsx";
import type { Store } from "./store.ts";

/** The last record before the turn that a message begins. */
async function beforeTurn(session: string, seq: number): Promise<number> {
  for (let at = seq - 1; at > 1; at--) {
    if ((await recordOf(session, at))?.kind === "turn_started") return at - 1;
  }
  return seq - 1;
}

export function EditAndFork({ store, record, intent }: { store: Store; record: StoredRecord; intent: StoredRecord | undefined }) {
  const chosen = useSignal<Editable | null>(null);
  const text = useSignal("");
  const model = useSignal("");
  const error = useSignal("");
  const isBusy = useSignal(false);
  const isRequest = asksForAnswer(record);
  const session = store.chosen.value;
  const all = editablesOf(record, intent);
  if (all.length === 0 && !isRequest) return null;
  const begin = (what: Editable) => {
    chosen.value = what;
    text.value = what.isJson ? pretty(what.text) : what.text;
    error.value = "";
  };
  // Only when they are wanted: of a long run they are looked for in many records.
  const beginInstructions = async () => {
    try {
      const [what] = editablesOf(record, intent, await instructionsAt(session, record.seq));
      if (what === undefined) error.value = "The instructions are too long for a record; change them in a file of the agent.";
      else begin(what);
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  const fork = async () => {
    const what = chosen.value;
    if (what === null || isBusy.value) return;
    isBusy.value = true;
    error.value = "";
    try {
      const before = what.what === "message" ? await beforeTurn(session, record.seq) : 0;
      const made = await call("POST /api/v1/runs/{id}/fork", { path: { id: session }, body: forkBody(record, what, text.value, model.value.trim(), before) });
      go({ view: "compare", run: session, other: made.id });
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
    isBusy.value = false;
  };
  if (chosen.value === null) {
    return (
      <div class="buttons" role="group" aria-label="Edit and fork">
        {all.map((what) => <button key={what.label} type="button" onClick={() => begin(what)}>Edit {what.label.replace(/^The /, "the ")} and fork…</button>)}
        {isRequest && <button type="button" onClick={() => void beginInstructions()}>Edit the instructions and fork…</button>}
        {isRequest && <a href={address({ view: "playground", run: session, record: record.seq })}>Playground</a>}
        <Failed error={error.value} />
      </div>
    );
  }
  return (
    <form
      class="fields edit-fork" aria-label="Edit and fork"
      onSubmit={(event) => {
        event.preventDefault();
        void fork();
      }}
    >
      <TextArea label={chosen.value.label} value={text.value} mono={chosen.value.isJson} change={(value) => (text.value = value)} submit={() => void fork()} focus />
      <label>
        Model that goes on <span class="quiet">(empty: the same)</span>
        <input type="text" value={model.value} placeholder="PROVIDER:NAME" onInput={(event) => (model.value = event.currentTarget.value)} />
      </label>
      <p class="quiet">A new run is the same up to here, says this instead, and goes on. This run does not change.</p>
      <Failed error={error.value} />
      <div class="buttons">
        <button class="main" disabled={isBusy.value}>Fork with this</button>
        <button type="button" onClick={() => (chosen.value = null)}>Back</button>
      </div>
    </form>
  );
}

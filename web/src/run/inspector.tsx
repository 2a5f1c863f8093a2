// The chosen record as it is stored, and what it means.
import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { records } from "../api/client.ts";
import type { StoredRecord } from "../api/types.ts";
import { moment } from "../model/words.ts";
import { address } from "../router.ts";
import type { Store } from "./store.ts";

const meanings: Record<string, string> = {
  session_created: "The agent as it was configured when the run began.",
  turn_started: "A turn began: from a message of the user to the final answer.",
  turn_settled: "The turn ended, with its reason.",
  message_appended: "A message that is not the answer of a model nor the result of a tool.",
  effect_intended: "Written before it happens: a call of a model or tool, or a timer.",
  effect_settled: "How that call ended; written before anyone sees it as done.",
  parked: "A step waits for a person.",
  decided: "A person, a rule or a hook decided a step.",
  intervened: "A command from outside of the loop, with its author.",
  compacted: "From here on the model sees only a later part of the conversation.",
  status_changed: "Such as: a new process took over.",
  child_spawned: "A call made a sub-agent.",
  child_settled: "A turn of a sub-agent ended.",
  speaker_set: "Another member of the team answers from now on.",
  call_proposed: "The handler of a running call asks for another tool.",
};

// Records never change: those that were read once are kept for the run that is open.
let kept: { session: string; records: StoredRecord[] } = { session: "", records: [] };

async function recordOf(session: string, seq: number): Promise<StoredRecord | undefined> {
  const found = () => (kept.session === session ? kept.records.find((each) => each.seq === seq) : undefined);
  if (found() === undefined) kept = { session, records: await records(session) };
  return found();
}

export function Inspector({ store }: { store: Store }) {
  const record = useSignal<StoredRecord | null>(null);
  const error = useSignal("");
  const copied = useSignal(false);
  useEffect(() => {
    let asked = 0;
    return effect(() => {
      const seq = store.record.value;
      const session = store.chosen.value;
      const mine = ++asked;
      copied.value = false;
      if (seq === null) {
        record.value = null;
        return;
      }
      recordOf(session, seq).then(
        (found) => {
          if (mine !== asked) return;
          record.value = found ?? null;
          error.value = found === undefined ? `This agent has no record ${seq}.` : "";
        },
        (refusal: Error) => (error.value = refusal.message),
      );
    });
  }, []);
  const shown = record.value;
  const session = store.chosen.value;
  if (error.value !== "") return <p class="failed">{error.value}</p>;
  if (shown === null) return <p class="quiet pad">Choose a number next to the conversation, or a bar of the timeline, to see the record behind it.</p>;
  const curl = `curl -H "Authorization: Bearer $PRAXIS_TOKEN" '${location.origin}/api/v1/runs/${session}/export'`;
  return (
    <div class="inspector">
      <h3>Record {shown.seq} <code>{shown.kind}</code></h3>
      <p class="quiet">{meanings[shown.kind] ?? ""}</p>
      <dl>
        <dt>Time</dt><dd>{moment(new Date(shown.time).toISOString())}</dd>
        <dt>Agent</dt><dd class="mono">{session}</dd>
        <dt>Link</dt><dd><a href={address({ view: "run", run: store.run, agent: session, record: shown.seq })}>to this record</a></dd>
      </dl>
      <pre tabIndex={0} aria-label="The record as JSON">{JSON.stringify(shown.body, null, 2)}</pre>
      <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(curl).then(() => (copied.value = true))}>
        {copied.value ? "Copied" : "Copy the request for curl"}
      </button>
    </div>
  );
}

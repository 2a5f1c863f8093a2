// One call of a model, sent again: several versions of it side by side. Each is a branch of the run, of one answer.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import { instructionsAt, recordOf, settledAfter } from "../api/records.ts";
import { type Attempt, attemptBody, attemptOf, type Call, inputOf, type Version } from "../model/attempt.ts";
import { cost, duration, pretty, shortId, tokens } from "../model/words.ts";
import { address } from "../router.ts";
import { Failed, TextArea } from "../ui/parts.tsx";
import { RichText } from "../ui/rich_text.tsx";

const patience = 600_000; // milliseconds
const atMost = 4; // versions

async function read(run: string, seq: number): Promise<{ call: Call; attempt: Attempt | undefined }> {
  const request = await recordOf(run, seq);
  if (request === undefined) throw new Error(`This run has no record ${seq}.`);
  const input = inputOf(await recordOf(run, seq - 1));
  const instructions = await instructionsAt(run, seq);
  const settled = await settledAfter(run, seq);
  return { call: { seq, instructions, input }, attempt: settled === undefined ? undefined : attemptOf(settled, request) };
}

/** Sends a version and waits for its answer. */
async function send(run: string, of: Call, version: Version, begun: (id: string) => void): Promise<Attempt> {
  const { id } = await call("POST /api/v1/runs/{id}/fork", { path: { id: run }, body: attemptBody(of, version) });
  begun(id);
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const { records } = await call("GET /api/v1/runs/{id}/records", { path: { id }, query: { from: of.seq, limit: 50 } });
    const settled = records.find((record) => record.kind === "effect_settled");
    if (settled !== undefined) return attemptOf(settled, records.findLast((record) => record.kind === "effect_intended" && record.seq < settled.seq));
    if (records.some((record) => record.kind === "turn_settled")) throw new Error("The turn ended without an answer.");
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error("No answer came within ten minutes; the run may still get one.");
}

function Answer({ attempt }: { attempt: Attempt }) {
  return (
    <div class="attempt" role="status">
      {attempt.error !== "" && <Failed error={attempt.error} />}
      {attempt.text !== "" && <RichText text={attempt.text} />}
      {attempt.calls.map((each, at) => (
        <div key={at}>
          <h4>Calls {each.tool}, which is not run</h4>
          <pre tabIndex={0} dir="auto">{pretty(each.args)}</pre>
        </div>
      ))}
      <p class="quiet">{attempt.model} · {tokens(attempt.tokens)} tokens · {cost(attempt.cost)} · {duration(attempt.ms)}</p>
    </div>
  );
}

interface Slot {
  version: Version;
  run: string;
  isBusy: boolean;
  error: string;
  attempt?: Attempt;
}

function VersionView({ of, run, slots, at }: { of: Call; run: string; slots: Signal<Slot[]>; at: number }) {
  const slot = slots.value[at]!;
  const put = (more: Partial<Slot>) => (slots.value = slots.value.map((each, place) => (place === at ? { ...each, ...more } : each)));
  const change = (more: Partial<Version>) => put({ version: { ...slot.version, ...more } });
  const start = () => {
    if (slot.isBusy) return;
    put({ isBusy: true, error: "", attempt: undefined });
    send(run, of, slot.version, (id) => put({ run: id })).then(
      (attempt) => put({ isBusy: false, attempt }),
      (refusal: Error) => put({ isBusy: false, error: refusal.message }),
    );
  };
  return (
    <section class="version" aria-label={`Version ${at + 1}`}>
      <h2>Version {at + 1}</h2>
      <form class="fields" onSubmit={(event) => { event.preventDefault(); start(); }}>
        {of.instructions !== undefined && (
          <label>Instructions<TextArea label={`Instructions of version ${at + 1}`} value={slot.version.instructions} change={(instructions) => change({ instructions })} submit={start} /></label>
        )}
        {of.input !== undefined && (
          <label>{of.input.label}<TextArea label={`${of.input.label} of version ${at + 1}`} value={slot.version.input} change={(input) => change({ input })} submit={start} /></label>
        )}
        <label>
          Model <span class="quiet">(empty: the same)</span>
          <input type="text" aria-label={`Model of version ${at + 1}`} value={slot.version.model} placeholder="PROVIDER:NAME" onInput={(event) => change({ model: event.currentTarget.value })} />
        </label>
        <label>
          Most it may cost, in dollars <span class="quiet">(empty: the limit of the agent)</span>
          <input type="number" min="0" step="any" aria-label={`Cost limit of version ${at + 1}`} value={slot.version.usd} onInput={(event) => change({ usd: event.currentTarget.value })} />
        </label>
        <div class="buttons">
          <button class="main" disabled={slot.isBusy}>{slot.isBusy ? "Waits for the answer…" : "Send"}</button>
          {slot.run !== "" && <a href={address({ view: "run", run: slot.run })}>Run {shortId(slot.run)}</a>}
        </div>
      </form>
      <Failed error={slot.error} />
      {slot.attempt !== undefined && <Answer attempt={slot.attempt} />}
    </section>
  );
}

export function Playground({ run, record }: { run: string; record: number }) {
  const found = useSignal<{ call: Call; attempt: Attempt | undefined } | null>(null);
  const slots = useSignal<Slot[]>([]);
  const error = useSignal("");
  const add = (of: Call) => {
    const last = slots.value.at(-1)?.version;
    const version = last ?? { instructions: of.instructions ?? "", input: of.input?.text ?? "", model: "", usd: "" };
    slots.value = [...slots.value, { version: { ...version }, run: "", isBusy: false, error: "" }];
  };
  useEffect(() => {
    read(run, record).then(
      (answer) => {
        found.value = answer;
        add(answer.call);
      },
      (refusal: Error) => (error.value = refusal.message),
    );
  }, []);
  const of = found.value;
  return (
    <main class="page">
      <header class="row">
        <h1>Playground</h1>
        <a href={address({ view: "run", run, record })}>Record {record} of {shortId(run)}</a>
        {of !== null && <button type="button" disabled={slots.value.length >= atMost} onClick={() => add(of.call)}>Add a version</button>}
      </header>
      <p class="quiet">Each version is a run of its own: the same up to this call, one answer of its model, and no tool is run. The original does not change.</p>
      <Failed error={error.value} />
      {of !== null && (
        <div class="versions">
          <section class="version" aria-label="As it was">
            <h2>As it was</h2>
            {of.attempt === undefined ? <p class="quiet">It has no answer yet.</p> : <Answer attempt={of.attempt} />}
          </section>
          {slots.value.map((_, at) => <VersionView key={at} of={of.call} run={run} slots={slots} at={at} />)}
        </div>
      )}
    </main>
  );
}

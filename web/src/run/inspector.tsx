// The chosen record: what it means, what was new in a request to the model, and its stored form.
import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call, isFile } from "../api/client.ts";
import { recordOf } from "../api/records.ts";
import type { PolicyAnswer, StoredRecord } from "../api/types.ts";
import { factsOf, intentOf, requestOf } from "../model/explain.ts";
import type { Agent, Item } from "../model/run_state.ts";
import { moment } from "../model/words.ts";
import { address } from "../router.ts";
import { EditAndFork } from "./edit_fork.tsx";
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

// Components get the version of an agent, which changes in place: without it they would not be drawn again.

/** Milliseconds. */
const betweenReads = 200;

interface Shown {
  record: StoredRecord;
  intent: StoredRecord | undefined;
}

async function read(session: string, seq: number): Promise<Shown | undefined> {
  const record = await recordOf(session, seq);
  if (record === undefined) return undefined;
  const near = new Map<number, StoredRecord | undefined>();
  if (record.kind === "effect_settled") {
    for (let before = seq - 1; before > 0 && before > seq - 25; before--) near.set(before, await recordOf(session, before));
  }
  return { record, intent: intentOf(record, (at) => near.get(at)) };
}

function brief(item: Item): string {
  if (item.kind === "message") return item.parts.map((part) => String((part as { text?: string }).text ?? part.type)).join(" ");
  if (item.kind === "call") return `${item.tool}: ${item.result || item.state}`;
  return item.text;
}

const kinds: Record<Item["kind"], string> = { message: "message", text: "answer", reasoning: "reasoning", call: "result", note: "note" };

function Request({ record, agent, store }: { record: StoredRecord; agent: Agent; version: number; store: Store }) {
  const request = requestOf(record, agent);
  if (request === undefined) return null;
  return (
    <section class="request" aria-label="The request to the model">
      <h4>New since the last request</h4>
      {request.changed.length > 0 && <p class="changed">Also changed: {request.changed.join(", ")}</p>}
      <ul>
        {request.fresh.map((item) => (
          <li key={`${item.seq} ${item.kind}`}>
            <button type="button" class="plain" onClick={() => store.choose(agent.id, item.seq)}>{item.seq}</button>
            <b>{kinds[item.kind]}</b> <span class="quiet" dir="auto">{brief(item).slice(0, 160)}</span>
          </li>
        ))}
      </ul>
      <p class="quiet">{request.known} parts of the conversation as in the request before{request.fresh.length === 0 ? "; nothing is new" : ""}.</p>
    </section>
  );
}

/** What the rules of the agent, as they are now, say about the call of a record. */
function Rules({ record, agent }: { record: StoredRecord; agent: Agent; version: number }) {
  const answer = useSignal<PolicyAnswer | null>(null);
  const body = record.body as { kind?: string; name?: string; call?: string };
  const item = agent.items.find((each) => each.kind === "call" && each.call === body.call);
  const args = item?.kind === "call" && item.args !== null && typeof item.args === "object" ? item.args : undefined;
  useEffect(() => {
    answer.value = null;
    const tool = body.name;
    if (isFile() || record.kind !== "effect_intended" || body.kind !== "tool" || tool === undefined || args === undefined) return undefined;
    // Not for the records that one passes by. An agent without a file of this name, such as most sub-agents, has no rules to ask.
    const ask = () => call("POST /api/v1/agents/{agent}/policy", { path: { agent: agent.name }, body: { tool, arguments: args } });
    const timer = setTimeout(() => void ask().then((found) => (answer.value = found), () => undefined), 2 * betweenReads);
    return () => clearTimeout(timer);
  }, [record, args !== undefined]);
  if (answer.value === null) return null;
  const { permission, reason, judgements } = answer.value;
  return (
    <section class={`verdict ${permission}`} aria-label="What the rules say">
      <p>By the rules as they are now: <b>{permission}</b>{reason === "" ? "" : `, ${reason}`}</p>
      <ul class="quiet">{judgements.map((each, at) => <li key={at} dir="auto">{each.layer}: {each.permission}{each.by === "" ? "" : `, by ${each.by}`}</li>)}</ul>
    </section>
  );
}

export function Inspector({ store }: { store: Store }) {
  const found = useSignal<Shown | null>(null);
  const error = useSignal("");
  const copied = useSignal(false);
  useEffect(() => {
    let [asked, timer, next] = [0, 0, 0];
    const look = (session: string, seq: number, mine: number) =>
      void read(session, seq).then(
        (shown) => {
          if (mine !== asked) return;
          found.value = shown ?? null;
          error.value = shown === undefined ? `This agent has no record ${seq}.` : "";
        },
        (refusal: Error) => {
          if (mine === asked) error.value = refusal.message;
        },
      );
    const end = effect(() => {
      const seq = store.record.value;
      const session = store.chosen.value;
      const mine = ++asked;
      copied.value = false;
      if (seq === null) {
        found.value = null;
        error.value = "";
        return;
      }
      // Of the records that one passes by on the way, some are read.
      if (timer !== 0) return;
      const pause = Math.max(0, next - performance.now());
      next = performance.now() + pause + betweenReads;
      if (pause === 0) return look(session, seq, mine);
      timer = window.setTimeout(() => {
        timer = 0;
        if (store.record.value !== null) look(store.chosen.value, store.record.value, asked);
      }, pause);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, []);
  // The agent changes in place, and may come after its record.
  void store.calm.value;
  const session = store.chosen.value;
  const agent = store.history.present.agents.get(session);
  if (error.value !== "") return <p class="failed">{error.value}</p>;
  if (found.value === null) return <p class="quiet pad">Choose a number next to the conversation, or a bar of the timeline, to see the record behind it.</p>;
  const { record, intent } = found.value;
  const curl = `curl -H "Authorization: Bearer $PRAXIS_TOKEN" '${location.origin}/api/v1/runs/${session}/records?from=${record.seq}&limit=1'`;
  return (
    <div class="inspector">
      <h3>Record {record.seq} <code>{record.kind}</code></h3>
      <p class="quiet">{meanings[record.kind] ?? ""}</p>
      <dl>
        <dt>Time</dt><dd>{moment(new Date(record.time).toISOString())}</dd>
        {factsOf(record, intent).map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={name + "="} dir="auto">{value}</dd>])}
        <dt>Agent</dt><dd class="mono">{session}</dd>
        <dt>Link</dt><dd><a href={address({ view: "run", run: store.run, agent: session, record: record.seq })}>to this record</a></dd>
      </dl>
      {agent !== undefined && <Request record={record} agent={agent} version={agent.version} store={store} />}
      {agent !== undefined && <Rules key={`${session} ${record.seq}`} record={record} agent={agent} version={agent.version} />}
      {!isFile() && session === store.history.present.root && <EditAndFork key={record.seq} store={store} record={record} intent={intent} />}
      <pre tabIndex={0} aria-label="The record as JSON">{JSON.stringify(record.body, null, 2)}</pre>
      {!isFile() && <button type="button" class="plain" onClick={() => void navigator.clipboard.writeText(curl).then(() => (copied.value = true))}>
        {copied.value ? "Copied" : "Copy the request for curl"}
      </button>}
    </div>
  );
}

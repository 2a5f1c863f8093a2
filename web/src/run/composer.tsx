// What a person can say to an agent, and do with it.
import { signal, useSignal } from "@preact/signals";
import { call } from "../api/client.ts";
import type { Agent } from "../model/run_state.ts";
import { Dialog, Failed, TextArea } from "../ui/parts.tsx";
import type { Store } from "./store.ts";

const kept = "praxis-draft ";
const drafts = new Map<string, ReturnType<typeof signal<string>>>();

/** What was typed for an agent; it outlives views, reloads and servers. */
function draftOf(agent: string) {
  let draft = drafts.get(agent);
  if (draft === undefined) {
    draft = signal(sessionStorage.getItem(kept + agent) ?? "");
    drafts.set(agent, draft);
  }
  return draft;
}
function keep(agent: string, text: string): void {
  draftOf(agent).value = text;
  if (text === "") sessionStorage.removeItem(kept + agent);
  else sessionStorage.setItem(kept + agent, text);
}

const isWorking = (agent: Agent) => agent.status === "running" || agent.status === "awaiting_user";

interface Props {
  agent: Agent;
  /** Of the agent, which changes in place. */
  version: number;
}

export function Composer({ store, agent }: Props & { store: Store }) {
  const error = useSignal("");
  const isBusy = useSignal(false);
  const text = draftOf(agent.id).value ?? "";
  const works = isWorking(agent);
  const act = async (what: () => Promise<unknown>) => {
    isBusy.value = true;
    error.value = "";
    try {
      await what();
      keep(agent.id, "");
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
    isBusy.value = false;
  };
  const command = (verb: string) => void act(() => call("POST /api/v1/runs/{id}/commands", { path: { id: agent.id }, body: { commands: [{ verb, text }] } }));
  const send = () => void act(() => call("POST /api/v1/runs/{id}/messages", { path: { id: agent.id }, body: { prompt: text } }));
  const isEmpty = text.trim() === "";
  const isRoot = agent.id === store.shown().root;
  if (!works && !isRoot) return <p class="composer quiet">This agent has ended. Messages go to the run itself.</p>;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) works ? command("steer") : send();
      }}
    >
      <TextArea
        id="composer" label={works ? "Tell the agent something" : "Next message"} value={text} change={(value) => keep(agent.id, value)}
        placeholder={works ? "Steer it: the agent reads this before its next step" : "Next message"}
        submit={() => { if (!isEmpty) works ? command("steer") : send(); }}
      />
      <div class="buttons">
        {works ? (
          <>
            <button class="main" disabled={isEmpty || isBusy.value} title="The agent reads it before its next step">Steer</button>
            <button type="button" disabled={isEmpty || isBusy.value} title="Begins a turn after this one" onClick={() => command("enqueue")}>Queue</button>
            <button type="button" disabled={isBusy.value} title="Stops what runs now, with what is written as the reason" onClick={() => command("interrupt")}>Interrupt</button>
          </>
        ) : (
          <button class="main" disabled={isEmpty || isBusy.value}>Send</button>
        )}
      </div>
      <Failed error={error.value} />
    </form>
  );
}

interface Verb {
  verb: string;
  label: string;
  /** What the text is that it takes; missing: it takes none. */
  asks?: string;
}

/** The buttons of one agent: stop, pause, annotate, change. */
export function Actions({ agent }: Props) {
  const error = useSignal("");
  const asked = useSignal<Verb | null>(null);
  const text = useSignal("");
  const works = isWorking(agent);
  const send = async (verb: string, words: string) => {
    error.value = "";
    try {
      await call("POST /api/v1/runs/{id}/commands", { path: { id: agent.id }, body: { commands: [{ verb, text: words }] } });
      asked.value = null;
      text.value = "";
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  const verbs: Verb[] = [];
  if (works) verbs.push({ verb: "interrupt", label: "Stop" });
  if (works) verbs.push(agent.paused ? { verb: "unpause", label: "Unpause" } : { verb: "pause", label: "Pause" });
  verbs.push({ verb: "annotate", label: "Annotate…", asks: "A comment that the tree shows. The agent does not read it." });
  if (works) verbs.push({ verb: "modify", label: "Change…", asks: "The new instruction with which the agent continues" });
  return (
    <div class="actions">
      {verbs.map((verb) => (
        <button key={verb.verb} type="button" onClick={() => (verb.asks ? (asked.value = verb) : void send(verb.verb, ""))}>{verb.label}</button>
      ))}
      {asked.value === null && <Failed error={error.value} />}
      {asked.value !== null && (
        <Dialog title={asked.value.label.replace("…", "") + " " + agent.name} close={() => (asked.value = null)}>
          <form onSubmit={(event) => { event.preventDefault(); void send(asked.value!.verb, text.value); }}>
            <TextArea label={asked.value.asks ?? ""} placeholder={asked.value.asks} value={text.value} change={(value) => (text.value = value)} submit={() => void send(asked.value!.verb, text.value)} focus />
            <Failed error={error.value} />
            <div class="buttons"><button class="main">{asked.value.label.replace("…", "")}</button></div>
          </form>
        </Dialog>
      )}
    </div>
  );
}

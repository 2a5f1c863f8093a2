// One run: its agents, the conversation of one of them, the record that is chosen, and where the time went.
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { isFile } from "../api/client.ts";
import { cost, shortId, tokens } from "../model/words.ts";
import { rows } from "../model/tree.ts";
import { address, go } from "../router.ts";
import { useKeys } from "../ui/keys.ts";
import { Status } from "../ui/parts.tsx";
import { Actions, Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { Inspector } from "./inspector.tsx";
import { Scrubber, step } from "./scrubber.tsx";
import { Store } from "./store.ts";
import { TreePane } from "./tree_pane.tsx";
import { WaterfallPane } from "./waterfall_pane.tsx";

type Pane = "tree" | "talk" | "record" | "time";
const panes: [Pane, string][] = [["tree", "Agents"], ["talk", "Conversation"], ["record", "Record"], ["time", "Timeline"]];
/** On a narrow screen one pane is shown at a time. */
const pane = signal<Pane>("talk");

const noneClosed: ReadonlySet<string> = new Set();

function Head({ store }: { store: Store }) {
  void store.calm.value;
  const agent = store.agent();
  const row = rows(store.shown(), noneClosed).find((each) => each.agent === agent);
  if (agent === undefined || row === undefined) return <div class="head"><h1>Run {shortId(store.run)}</h1></div>;
  return (
    <div class="head">
      <h1 dir="auto" title={agent.task}>{agent.name}<span class="quiet"> {agent.task}</span></h1>
      <Status status={agent.status} paused={agent.paused} />
      <span class="quiet" title={agent.model}>{agent.model.replace(/^.*\//, "")}</span>
      <span class="quiet">step {agent.step}</span>
      <span class="quiet" title="of this agent, and with all below it">
        {tokens(agent.tokens)}{row.tokens === agent.tokens ? "" : ` / ${tokens(row.tokens)}`} tokens
        {row.cost > 0 ? ` · ${cost(row.cost)}` : ""}
      </span>
      {!isFile() && <a href={address({ view: "branches", run: store.run })}>Branches</a>}
      {!isFile() && <a href={address({ view: "files", run: store.run })}>Files</a>}
      {!isFile() && store.moment.value === null && <Actions key={agent.id} agent={agent} version={agent.version} />}
    </div>
  );
}

function Banner({ store }: { store: Store }) {
  return <p class="banner">This is the run as it was at record {store.record.value ?? ""}.{isFile() ? "" : " Commands act on the present."}</p>;
}

function Below({ store }: { store: Store }) {
  void store.version.value;
  const agent = store.agent();
  return agent === undefined ? null : <Composer key={agent.id} store={store} agent={agent} version={agent.version} />;
}

function chooseRecord(store: Store, by: 1 | -1): void {
  const items = store.agent()?.items ?? [];
  const at = store.record.value;
  const found = by === 1 ? items.find((each) => at === null || each.seq > at) : items.findLast((each) => at === null || each.seq < at);
  if (found !== undefined) store.choose(store.chosen.value, found.seq);
}

/** Draws the frame of the panes. What is in them draws itself: a step through time draws none of this again. */
export function RunView({ run }: { run: string }) {
  const store = useMemo(() => new Store(run), [run]);
  useEffect(() => () => store.close(), [store]);
  const acts = () => [
    { key: "c", does: "write to the agent", run: () => document.getElementById("composer")?.focus() },
    { key: "b", does: "branches of the run", run: () => go({ view: "branches", run: store.run }) },
    { key: "f", does: "files that the run changed", run: () => go({ view: "files", run: store.run }) },
  ];
  useKeys("Run", () => [
    ...(isFile() ? [] : acts()),
    { key: "t", does: "agents (arrows move)", run: () => document.querySelector<HTMLElement>("[role=treeitem][aria-selected=true]")?.focus() },
    { key: "j", does: "next record of the conversation", run: () => chooseRecord(store, 1) },
    { key: "k", does: "record before", run: () => chooseRecord(store, -1) },
    { key: "[", does: "one record back in time", run: () => step(store, -1) },
    { key: "]", does: "one record on in time", run: () => step(store, 1) },
    { key: "p", does: "play, or stop playing", run: () => store.play(store.speed.value === 0 ? 4 : 0) },
    { key: "l", does: "live", run: () => store.show(null) },
  ]);
  if (store.error.value !== "") return <main class="page"><p class="failed" role="alert">{store.error.value}</p></main>;
  return (
    <main class={`run shows-${pane.value}`}>
      <Head store={store} />
      <div class="panes" role="tablist" aria-label="Panes">
        {panes.map(([name, label]) => (
          <button key={name} type="button" role="tab" aria-selected={pane.value === name} onClick={() => (pane.value = name)}>{label}</button>
        ))}
      </div>
      <aside class="left" aria-label="Agents"><TreePane store={store} /></aside>
      <section class="middle" aria-label="Conversation of the chosen agent">
        {store.isPast.value && <Banner store={store} />}
        <Conversation store={store} />
        {!isFile() && !store.isPast.value && <Below store={store} />}
      </section>
      <aside class="right" aria-label="Record"><Inspector store={store} /></aside>
      <footer class="bottom">
        <Scrubber store={store} />
        <WaterfallPane store={store} />
      </footer>
    </main>
  );
}

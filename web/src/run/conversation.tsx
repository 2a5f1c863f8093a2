// The conversation of the chosen agent, with its calls, and sub-agents where they were made.
import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { isFile } from "../api/client.ts";
import type { Part, ParkedStep } from "../api/types.ts";
import type { Agent, CallItem, Item, RunState } from "../model/run_state.ts";
import { changeOf, imageOf } from "../model/file_change.ts";
import { Elements, moved, placeOf, windowAt } from "../model/item_window.ts";
import { duration, moment, pretty } from "../model/words.ts";
import { Diff } from "../ui/diff.tsx";
import { RichText } from "../ui/rich_text.tsx";
import { Status } from "../ui/parts.tsx";
import { Decision } from "../decide/decision.tsx";
import type { Store } from "./store.ts";

/** The least height of an item, in pixels; as in the style. */
const leastHeight = 34;
const longest = 20_000;

const sources: Record<string, string> = { user: "User", steer: "Steered", queue: "Queued", plan: "Plan", runtime: "Runtime", import: "Imported" };

function PartView({ part }: { part: Part }) {
  if (part.type === "text" || part.type === "refusal") return <RichText text={String((part as { text: string }).text)} />;
  const image = imageOf(part);
  const { name = (part as { mime?: string }).mime ?? "" } = part as { name?: string };
  if (image !== undefined) return <img class="picture" src={image} alt="Image in the message" />;
  return <p class="quiet">[{part.type} {name}]</p>;
}

const callWords = { called: "called", running: "running…", waiting: "waits for you", done: "", failed: "failed", denied: "denied" };

function Cut({ text }: { text: string }) {
  const isWhole = useSignal(false);
  const short = text.length > longest && !isWhole.value;
  return (
    <pre tabIndex={0} dir="auto">
      {short ? text.slice(0, longest) : text}
      {short && <button type="button" class="plain" onClick={() => (isWhole.value = true)}>… {text.length - longest} more characters</button>}
    </pre>
  );
}

function oneLine(args: unknown): string {
  const text = typeof args === "string" ? args : JSON.stringify(args ?? {});
  return text.length > 120 ? text.slice(0, 120) + "…" : text;
}

// These are functions and not components: items change in place, and a component would not notice.

function childView(id: string, run: RunState, store: Store) {
  const child = run.agents.get(id);
  if (child === undefined) return null;
  const said = child.items.findLast((each) => each.kind === "text");
  return (
    <button key={id} type="button" class="child" onClick={() => store.choose(id)}>
      <Status status={child.status} paused={child.paused} />
      <b>{child.name}</b>
      <span class="quiet" dir="auto">{said?.kind === "text" ? said.text.slice(0, 200) : child.task.slice(0, 200)}</span>
    </button>
  );
}

function CallDetails({ item, isPast }: { item: CallItem; version: number; isPast: boolean }) {
  const isOpen = item.state === "failed";
  // Of a past moment they are made when they are opened: many calls pass by that no person looks into.
  const isMade = useSignal(false);
  return (
    <details open={isOpen} onToggle={(event) => (isMade.value ||= event.currentTarget.open)}>
      <summary>
        <span class="tool">{item.tool}</span>
        <code class="brief">{oneLine(item.args)}</code>
        <span class="state">{item.state === "running" && item.progress ? item.progress : callWords[item.state]}</span>
        {item.ms !== undefined && <span class="quiet number">{duration(item.ms)}</span>}
      </summary>
      {(isMade.value || isOpen || !isPast) && (
        <>
          {changeOf(item.tool, item.args) !== undefined && <Diff lines={changeOf(item.tool, item.args)!} />}
          <h4>Arguments</h4>
          <Cut text={pretty(item.args)} />
          {item.result !== "" && <h4>{item.state === "failed" ? "Error" : "Result"}</h4>}
          {item.result !== "" && <Cut text={pretty(item.result)} />}
        </>
      )}
    </details>
  );
}

function callView(item: CallItem, run: RunState, store: Store, isPast: boolean, parked?: ParkedStep) {
  return (
    <div class={`call ${item.state}`}>
      <CallDetails item={item} version={item.version} isPast={isPast} />
      {item.children.map((id) => childView(id, run, store))}
      {parked !== undefined && <Decision step={parked} />}
    </div>
  );
}

function itemBody({ item, run, store, isPast, parked }: ItemProps) {
  switch (item.kind) {
    case "message":
      return (
        <div class={`message ${item.source}`}>
          <h3>{sources[item.source] ?? item.source}</h3>
          {item.parts.map((part, at) => <PartView key={at} part={part} />)}
        </div>
      );
    case "reasoning":
      return (
        <details class="reasoning" open={item.live}>
          <summary>Reasoning</summary>
          <RichText text={item.text} />
        </details>
      );
    case "text":
      return (
        <div class={"answer" + (item.live ? " live" : "")}>
          <RichText text={item.text} />
        </div>
      );
    case "call":
      return callView(item, run, store, isPast, parked);
    case "note":
      return <p class={`note ${item.tone}`} dir="auto">{item.text}</p>;
  }
}

interface ItemProps {
  item: Item;
  version: number;
  /** Changes when a sub-agent of the item does. */
  below: number;
  isChosen: boolean;
  isPast: boolean;
  run: RunState;
  store: Store;
  parked?: ParkedStep;
}

/** Draws an item again only if it changed. */
class ItemView extends Component<ItemProps> {
  override shouldComponentUpdate(next: ItemProps): boolean {
    const now = this.props;
    return (
      now.item !== next.item || now.version !== next.version || now.below !== next.below || now.isChosen !== next.isChosen ||
      now.parked !== next.parked || now.isPast !== next.isPast
    );
  }
  override render(props: ItemProps) {
    const { item, isChosen, store } = props;
    return (
      <li class={isChosen ? "chosen" : ""} data-seq={item.seq}>
        <button
          type="button" class="record" aria-label={`Inspect record ${item.seq}`}
          onPointerEnter={(event) => (event.currentTarget.title = `Record ${item.seq}, ${moment(item.time)}`)}
          onClick={() => store.choose(store.chosen.value, item.seq)}
        >
          {item.seq}
        </button>
        {itemBody(props)}
      </li>
    );
  }
}

function below(item: Item, run: RunState): number {
  if (item.kind !== "call") return 0;
  return item.children.reduce((sum, id) => sum + (run.agents.get(id)?.version ?? 0) + 1, 0);
}

function parkedOf(agent: Agent, item: Item): ParkedStep | undefined {
  if (item.kind !== "call" || item.state !== "waiting") return undefined;
  const step = agent.waits.find((each) => each.call === item.call);
  return step;
}

/** Keeps the end in sight while one follows it; else, after `hold`, the items that one reads while others come around them. */
function useAnchor(box: { current: HTMLDivElement | null }, follows: { current: boolean }) {
  const held = useRef<{ item: Element; top: number }[]>([]);
  const isSettling = useRef(false);
  const topOf = (item: Element) => item.getBoundingClientRect().top - box.current!.getBoundingClientRect().top;
  useLayoutEffect(() => {
    if (isSettling.current) return;
    isSettling.current = true;
    // After all panes were drawn: reading a height in between would compute the layout twice in a frame.
    queueMicrotask(() => {
      isSettling.current = false;
      const element = box.current;
      if (element === null) return;
      // The first item may become part of one that is loaded.
      const kept = held.current.find(({ item }) => item.isConnected);
      const by = kept === undefined || follows.current ? undefined : topOf(kept.item) - kept.top;
      if (follows.current) element.scrollTop = element.scrollHeight;
      if (by !== undefined) element.scrollTop += by;
      if (by !== 0) held.current = []; // until then, what they are held for is still to come
    });
  });
  const hold = () => {
    const items = [...(box.current?.querySelectorAll("ol > li[data-seq]") ?? [])];
    const first = items.findIndex((item) => topOf(item) + item.clientHeight > 0);
    held.current = first < 0 ? [] : items.slice(first, first + 10).map((item) => ({ item, top: topOf(item) }));
  };
  const renew = () => {
    if (held.current.length > 0) hold();
  };
  return { hold, renew };
}

export function Conversation({ store }: { store: Store }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  /** Drawn are the items from so many before that of a record, during one visit of an agent at a moment; otherwise the last ones. */
  const begun = useSignal<{ visit: number; seq: number; before: number } | null>(null);
  const seen = useSignal(600);
  useEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => (seen.value = element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const agent = store.agent();
  const run = store.shown();
  const items = agent?.items ?? [];
  const live = agent === undefined ? [] : [...agent.live.entries()].sort(([a], [b]) => a - b).map(([, item]) => item);
  const at = store.moment.value;
  const visit = useRef({ number: 0, at, agent: agent?.id });
  if (visit.current.at !== at || visit.current.agent !== agent?.id) {
    visit.current = { number: visit.current.number + 1, at, agent: agent?.id };
    follows.current = true;
  }
  const isPast = isFile() || at !== null; // a file has nothing to decide either
  const all = live.length === 0 ? items : [...items, ...live];
  const fill = Math.ceil(seen.value / leastHeight) + 2;
  const from = begun.value?.visit === visit.current.number ? placeOf(all, begun.value.seq) - begun.value.before : null;
  const count = all.length; // when it is drawn: items come in at any time
  const { first, last } = windowAt(count, from, at === null ? 2 * fill : fill);
  const anchor = useAnchor(box, follows);
  const hasEarlier = agent !== undefined && store.history.hasEarlierOf(agent.id);
  const isUnloaded = hasEarlier && agent.items.length === 0;
  useEffect(() => {
    if (isUnloaded && agent !== undefined) void store.loadEarlierOf(agent.id);
  }, [agent?.id, isUnloaded, store.isLoading.value]);
  const begin = (seq = 0, before = 0) => (begun.value = { visit: visit.current.number, seq, before });
  const move = (by: number) => {
    anchor.hold();
    begin(all[Math.max(0, first + by)]?.seq);
  };
  const showEarlier = () => {
    follows.current = false;
    store.readsBack = true;
    if (first > 0 || agent === undefined) return move(-moved);
    anchor.hold();
    begin(all[0]?.seq, moved); // which are loaded
    void store.loadEarlierOf(agent.id);
  };
  const scrolled = ({ scrollTop, scrollHeight, clientHeight }: HTMLDivElement) => {
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 40;
    follows.current = isAtEnd && last === count;
    anchor.renew();
    store.readsBack = !follows.current;
    if (follows.current) begun.value = null;
    else if (from === null) begin(all[first]?.seq); // what one reads stays when more is said
    if (scrollTop === 0 && scrollHeight > clientHeight && (first > 0 || hasEarlier)) showEarlier();
    else if (isAtEnd && last < count) move(moved);
  };
  // Questions and access have no call that could show them.
  const apart = isPast || agent === undefined ? [] : agent.waits.filter((step) => !items.some((item) => parkedOf(agent, item) === step));
  const part = all.slice(first, last);
  const elements = useMemo(() => new Elements(), []);
  // What a person opened or closed belongs to its item alone.
  const isAsMade = box.current?.querySelector("details[open], .failed > details:not([open])") === null;
  const keys = elements.of(part, at !== null && isAsMade);
  return (
    <div
      ref={box} class="conversation" tabIndex={0} role="log" aria-label="Conversation" aria-live="off"
      onScroll={(event) => scrolled(event.currentTarget)}
    >
      {(first > 0 || hasEarlier) && (
        <p class="center"><button type="button" disabled={store.isLoading.value} onClick={showEarlier}>Show earlier</button></p>
      )}
      <ol key={agent?.id}>
        {part.map((item, number) => (
          <ItemView
            key={keys[number]} item={item} version={item.version} below={below(item, run)}
            isChosen={store.record.value === item.seq} isPast={at !== null} run={run} store={store} parked={isPast || agent === undefined ? undefined : parkedOf(agent, item)}
          />
        ))}
      </ol>
      {apart.map((step) => <Decision key={step.id} step={{ ...step, session: step.session ?? agent?.id }} />)}
      {agent === undefined && <p class="empty">{at === null ? "Nothing has happened yet." : "This agent did not exist yet."}</p>}
    </div>
  );
}

// The conversation of the chosen agent, with its calls, and sub-agents where they were made.
import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { isFile } from "../api/client.ts";
import type { Part, ParkedStep } from "../api/types.ts";
import type { Agent, CallItem, Item, RunState } from "../model/run_state.ts";
import { changeOf, imageOf } from "../model/file_change.ts";
import { duration, moment, pretty } from "../model/words.ts";
import { Diff } from "../ui/diff.tsx";
import { RichText } from "../ui/rich_text.tsx";
import { Status } from "../ui/parts.tsx";
import { Decision } from "../decide/decision.tsx";
import type { Store } from "./store.ts";

/** Items that are drawn of the present, and more with each look back. */
const [shownAtOnce, shownMore] = [150, 100];
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

export function Conversation({ store }: { store: Store }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  /** Items that were scrolled to, at the moment `at`. */
  const more = useSignal<{ at: number | null; count: number }>({ at: null, count: 0 });
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
  // While one moves through time, no more than fills the box is drawn; what is above it comes when one scrolls there.
  const at = store.moment.value;
  const drawn = useRef(at);
  if (drawn.current !== at && at !== null) follows.current = true;
  drawn.current = at;
  const isPast = isFile() || at !== null; // a file has nothing to decide either
  const atOnce = at === null ? shownAtOnce : Math.ceil(seen.value / leastHeight) + 2;
  const above = more.value.at === at ? more.value.count : 0;
  const first = Math.max(0, items.length + live.length - atOnce - above);
  // What is in sight stays there when earlier items come in above it.
  const anchor = useRef<number | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (follows.current) element.scrollTop = element.scrollHeight;
    else if (anchor.current !== null && element.scrollHeight !== anchor.current) {
      element.scrollTop += element.scrollHeight - anchor.current;
      anchor.current = null;
    }
  });
  const hasEarlier = agent !== undefined && store.history.hasEarlierOf(agent.id);
  const isUnloaded = hasEarlier && agent.items.length === 0;
  useEffect(() => {
    if (isUnloaded && agent !== undefined) void store.loadEarlierOf(agent.id);
  }, [agent?.id, isUnloaded, store.isLoading.value]);
  const showEarlier = () => {
    follows.current = false;
    store.readsBack = true;
    anchor.current = box.current?.scrollHeight ?? null;
    more.value = { at, count: above + shownMore };
    if (first === 0 && agent !== undefined) void store.loadEarlierOf(agent.id);
  };
  // Questions and access have no call that could show them.
  const apart = isPast || agent === undefined ? [] : agent.waits.filter((step) => !items.some((item) => parkedOf(agent, item) === step));
  return (
    <div
      ref={box} class="conversation" tabIndex={0} role="log" aria-label="Conversation" aria-live="off"
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        follows.current = scrollHeight - scrollTop - clientHeight < 40;
        store.readsBack = !follows.current;
        if (scrollTop === 0 && scrollHeight > clientHeight && (first > 0 || hasEarlier)) showEarlier();
      }}
    >
      {(first > 0 || hasEarlier) && (
        <p class="center"><button type="button" disabled={store.isLoading.value} onClick={showEarlier}>Show {first > 0 ? `${Math.min(shownMore, first)} ` : ""}earlier</button></p>
      )}
      <ol key={agent?.id}>
        {[...items.slice(first), ...live].map((item, place) => (
          <ItemView
            key={item.kind === "text" && item.live ? "live" + place : first + place} item={item} version={item.version} below={below(item, run)}
            isChosen={store.record.value === item.seq} isPast={at !== null} run={run} store={store} parked={isPast || agent === undefined ? undefined : parkedOf(agent, item)}
          />
        ))}
      </ol>
      {apart.map((step) => <Decision key={step.id} step={{ ...step, session: step.session ?? agent?.id }} />)}
      {agent === undefined && <p class="empty">{at === null ? "Nothing has happened yet." : "This agent did not exist yet."}</p>}
    </div>
  );
}

// The agents of the run. Only the rows in sight are drawn, so thousands are no more work than twenty.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Agent } from "../model/run_state.ts";
import { rows, shown, type Row } from "../model/tree.ts";
import { cost, duration, hue, tokens } from "../model/words.ts";
import { Status } from "../ui/parts.tsx";
import type { Store } from "./store.ts";

const height = 44;

/** How long an agent has been at work. */
function ageOf(agent: Agent, now: number, isPast: boolean): string {
  const isOver = agent.status !== "running" && agent.status !== "awaiting_user";
  return duration((isOver || isPast ? Date.parse(agent.updated) : now) - Date.parse(agent.began));
}

/** Is drawn again when a property changes: that a row scrolls by changes none. */
function TreeRow({ row, age, store, at, count }: { row: Row; age: string; store: Store; at: number; count: number }) {
  const { agent } = row;
  const isChosen = store.chosen.value === agent.id;
  return (
    <li
      role="treeitem" aria-level={row.depth + 1} aria-setsize={count} aria-posinset={at + 1} aria-selected={isChosen}
      aria-expanded={row.hasChildren ? row.isOpen : undefined} tabIndex={isChosen ? 0 : -1} data-agent={agent.id}
      class={isChosen ? "chosen" : ""} style={{ top: `${at * height}px`, paddingInlineStart: `${0.5 + Math.min(row.depth, 12) * 0.9}rem` }}
      onClick={() => store.choose(agent.id)}
    >
      <span class="line">
        <span
          class={"twist" + (row.hasChildren ? "" : " none")} aria-hidden="true"
          onClick={(event) => { event.stopPropagation(); store.toggle(agent.id); }}
        >
          {row.isOpen ? "▾" : "▸"}
        </span>
        <Status status={agent.status} paused={agent.paused} short />
        <span class="swatch" style={{ backgroundColor: `hsl(${hue(agent.name)} 55% 50%)` }} aria-hidden="true" />
        <b>{agent.name}</b>
        {row.waits > 0 && <span class="count" title={`${row.waits} wait for a person`}>{row.waits}</span>}
        <span class="number quiet">{tokens(row.tokens)}{row.cost > 0 ? ` · ${cost(row.cost)}` : ""}</span>
      </span>
      <span class="line second quiet">
        <span class="task" dir="auto">{agent.comment ? `“${agent.comment}”` : agent.task}</span>
        <span class="number">{age}</span>
      </span>
    </li>
  );
}

export function TreePane({ store }: { store: Store }) {
  const box = useRef<HTMLUListElement>(null);
  const top = useSignal(0);
  const seen = useSignal(600);
  const now = useMemo(() => Date.now(), [store.calm.value]);
  const isPast = store.moment.value !== null;
  const all = rows(store.shown(), store.closed.value);
  const part = shown(all.length, height, top.value, seen.value);
  useEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => (seen.value = element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const keys = (event: KeyboardEvent) => {
    const at = all.findIndex((row) => row.agent.id === store.chosen.value);
    const row = all[at];
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (row !== undefined && event.key === "ArrowLeft" && row.hasChildren && row.isOpen) store.toggle(row.agent.id);
    else if (row !== undefined && event.key === "ArrowRight" && row.hasChildren && !row.isOpen) store.toggle(row.agent.id);
    else if (to === undefined) return;
    event.preventDefault();
    const next = to === undefined ? undefined : all[to];
    if (next === undefined || to === undefined) return;
    store.choose(next.agent.id);
    const element = box.current!;
    if (to * height < element.scrollTop) element.scrollTop = to * height;
    if ((to + 1) * height > element.scrollTop + element.clientHeight) element.scrollTop = (to + 1) * height - element.clientHeight;
    requestAnimationFrame(() => element.querySelector<HTMLElement>("[aria-selected=true]")?.focus());
  };
  return (
    <ul ref={box} class="tree" role="tree" aria-label="Agents" onKeyDown={keys} onScroll={(event) => (top.value = event.currentTarget.scrollTop)}>
      {all.slice(part.first, part.last).map((row, at) => (
        <TreeRow key={row.agent.id} row={row} age={ageOf(row.agent, now, isPast)} store={store} at={part.first + at} count={all.length} />
      ))}
      <li role="none" class="room" style={{ top: `${all.length * height - 1}px` }} />
    </ul>
  );
}

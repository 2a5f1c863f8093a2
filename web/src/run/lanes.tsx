// The lanes of the timeline. Only those in sight are drawn, so thousands are no more work than twenty.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { heightOf, laneAt, laneTops, topOf, type Lane } from "../model/waterfall.ts";
import { duration, hue } from "../model/words.ts";
import { Steady } from "../ui/parts.tsx";
import type { Store } from "./store.ts";

export const kinds = { model: "model", tool: "tool", wait: "waiting" };
/** Lanes above and below those in sight. */
const around = 6;

interface BarsProps {
  lane: Lane;
  /** The time at which bars without an end are drawn to end. */
  now: number;
  store: Store;
}
interface LaneProps extends BarsProps {
  top: number;
  place: number;
  count: number;
  isStop: boolean;
  reach: () => void;
}

export class Bars extends Steady<BarsProps> {
  override render({ lane, now, store }: BarsProps) {
    return lane.bars.map(({ span, left, width, level }) => (
      <i
        key={`${span.kind} ${span.seq} ${span.from}`} class={span.kind + (span.to === null ? " open" : "")}
        title={`${kinds[span.kind]} ${span.name}: ${duration((span.to ?? now) - span.from)}, record ${span.seq}`}
        style={{ left: `${left * 100}%`, width: `max(2px, ${width * 100}%)`, top: `${topOf(level)}px` }}
        onClick={() => store.choose(lane.agent, span.seq)}
      />
    ));
  }
}

export class LaneView extends Steady<LaneProps> {
  override render({ lane, now, store, top, place, count, isStop, reach }: LaneProps) {
    return (
      <li class="lane" aria-setsize={count} aria-posinset={place} style={{ top: `${top}px` }}>
        <button
          type="button" class="plain name" tabIndex={isStop ? 0 : -1} style={{ paddingInlineStart: `${0.4 + Math.min(lane.depth, 8) * 0.6}rem` }}
          onFocus={reach} onClick={() => store.choose(lane.agent)}
        >
          {lane.name}
        </button>
        <div class="bars" style={{ height: `${heightOf(lane)}px`, "--hue": hue(lane.name) }}>
          <Bars lane={lane} now={now} store={store} />
        </div>
      </li>
    );
  }
}

interface Props {
  all: Lane[];
  now: number;
  /** The part of the width up to the moment that is shown. */
  until: number;
  store: Store;
  zoom: (factor: number, at: number) => void;
}

/** `reached`: the lane that the Tab key goes to; the arrow keys go on from there. */
export function Lanes({ all, now, until, store, zoom }: Props) {
  const box = useRef<HTMLUListElement>(null);
  const top = useSignal(0);
  const seen = useSignal(150);
  const reached = useSignal("");
  const tops = useMemo(() => laneTops(all), [all]);
  useEffect(() => {
    const element = box.current!;
    const watch = new ResizeObserver(() => (seen.value = element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const first = Math.max(0, laneAt(tops, top.value) - around);
  const last = Math.min(all.length, laneAt(tops, top.value + seen.value) + 1 + around);
  const drawn = all.slice(first, last);
  // A lane that is out of sight cannot be reached: then the first one in sight is.
  const stop = drawn.some((lane) => lane.agent === reached.value) ? reached.value : all[Math.min(laneAt(tops, top.value + 12), last - 1)]?.agent;
  const keys = (event: KeyboardEvent) => {
    const at = all.findIndex((lane) => lane.agent === stop);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    const next = to === undefined ? undefined : all[to];
    if (to === undefined || next === undefined || at < 0) return;
    event.preventDefault();
    reached.value = next.agent;
    const element = box.current!;
    if (tops[to]! < element.scrollTop) element.scrollTop = tops[to]!;
    else if (tops[to + 1]! > element.scrollTop + element.clientHeight) element.scrollTop = tops[to + 1]! - element.clientHeight;
    top.value = element.scrollTop;
    requestAnimationFrame(() => element.querySelector<HTMLElement>("[tabindex='0']")?.focus({ preventScroll: true }));
  };
  return (
    <ul
      ref={box} class="lanes" aria-label="Lanes" style={{ "--lanes": `${tops.at(-1)}px` }}
      onKeyDown={keys} onScroll={(event) => (top.value = event.currentTarget.scrollTop)}
      onWheel={(event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const { left, width } = event.currentTarget.getBoundingClientRect();
        zoom(event.deltaY > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, (event.clientX - left - 130) / (width - 130))));
      }}
    >
      {drawn.map((lane, at) => (
        <LaneView
          key={lane.agent} lane={lane} now={now} store={store} top={tops[first + at]!} place={first + at + 1} count={all.length}
          isStop={lane.agent === stop} reach={() => (reached.value = lane.agent)}
        />
      ))}
      {until < 1 && <li aria-hidden="true" class="curtain" style={{ transform: `scaleX(${1 - until})` }} />}
    </ul>
  );
}

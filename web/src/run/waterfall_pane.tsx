// Where the time went, as bars.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { extent, lanes, totals, zoomed, type Window } from "../model/waterfall.ts";
import { duration } from "../model/words.ts";
import { kinds, Lanes } from "./lanes.tsx";
import type { Store } from "./store.ts";

export function WaterfallPane({ store }: { store: Store }) {
  const zoom = useSignal<Window | null>(null);
  const clock = useSignal(0);
  void store.calm.value;
  void clock.value;
  // A past moment has the lanes of the present, cut there: moving through time computes and draws none of them.
  const run = store.history.present;
  const past = store.moment.value === null ? undefined : store.shown();
  const isOpen = run.spans.some((span) => span.to === null);
  useEffect(() => {
    if (!isOpen || past !== undefined) return undefined;
    const timer = setInterval(() => clock.value++, 500);
    return () => clearInterval(timer);
  }, [isOpen, past !== undefined]);
  const steady = [run, store.calm.value, clock.value];
  const now = useMemo(() => Date.now(), steady);
  const whole = useMemo(() => extent(run.spans, now), steady);
  const window = zoom.value ?? whole;
  const present = useMemo(() => lanes(run, window, now), [...steady, window]);
  const all = past === undefined || past.agents.size === run.agents.size ? present : present.filter((lane) => past.agents.has(lane.agent));
  const last = store.history.events[(store.moment.value ?? 0) - 1];
  const end = last === undefined ? Infinity : Date.parse(last.time);
  const until = Math.min(1, Math.max(0, (end - window.from) / (window.to - window.from)));
  const sums = totals(run.spans, now, end);
  const change = (factor: number, at = 0.5) => {
    const next = zoomed(window, whole, factor, at);
    zoom.value = next.to - next.from >= whole.to - whole.from ? null : next;
  };
  const move = (by: number) => {
    const length = window.to - window.from;
    const from = Math.min(Math.max(window.from + by * length, whole.from), whole.to - length);
    if (zoom.value !== null) zoom.value = { from, to: from + length };
  };
  return (
    <section class="waterfall" aria-label="Timeline">
      <header>
        {(["model", "tool", "wait"] as const).map((kind) => (
          <span key={kind} class="legend"><i class={kind} aria-hidden="true" />{kinds[kind]} {duration(sums[kind])}</span>
        ))}
        <span class="quiet">{duration(window.to - window.from)} shown{zoom.value === null ? "" : ` of ${duration(whole.to - whole.from)}`}</span>
        <button type="button" class="plain" onClick={() => move(-0.3)} disabled={zoom.value === null} aria-label="Earlier">◂</button>
        <button type="button" class="plain" onClick={() => change(2)} disabled={zoom.value === null} aria-label="Zoom out">−</button>
        <button type="button" class="plain" onClick={() => change(0.5)} aria-label="Zoom in">+</button>
        <button type="button" class="plain" onClick={() => move(0.3)} disabled={zoom.value === null} aria-label="Later">▸</button>
      </header>
      <Lanes all={all} now={now} until={until} store={store} zoom={change} />
    </section>
  );
}

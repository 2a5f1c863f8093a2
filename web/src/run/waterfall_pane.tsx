// Where the time went, as bars.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { extent, lanes, totals, zoomed, type Window } from "../model/waterfall.ts";
import { duration } from "../model/words.ts";
import { kinds, Lanes } from "./lanes.tsx";
import type { Store } from "./store.ts";

export function WaterfallPane({ store }: { store: Store }) {
  const zoom = useSignal<Window | null>(null);
  const clock = useSignal(0);
  void store.calm.value;
  void clock.value;
  const run = store.shown();
  const isOpen = run.spans.some((span) => span.to === null);
  useEffect(() => {
    if (!isOpen || store.moment.value !== null) return undefined;
    const timer = setInterval(() => clock.value++, 500);
    return () => clearInterval(timer);
  }, [isOpen, store.moment.value !== null]);
  const last = store.history.events[(store.moment.value ?? 0) - 1];
  const now = last === undefined ? Date.now() : Date.parse(last.time);
  const whole = extent(run.spans, now);
  const window = zoom.value ?? whole;
  const all = lanes(run, window, now);
  const sums = totals(run.spans, now);
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
      <Lanes all={all} now={now} store={store} zoom={change} />
    </section>
  );
}

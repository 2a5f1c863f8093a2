// Moves the whole view to any record of the run, and branches off there.
import { useComputed, useSignal } from "@preact/signals";
import { call, isFile } from "../api/client.ts";
import type { RunEvent } from "../api/types.ts";
import { isAgent, isDecision, isError } from "../model/history.ts";
import { moment } from "../model/words.ts";
import { go } from "../router.ts";
import { Failed, Steady } from "../ui/parts.tsx";
import type { Store } from "./store.ts";

const eventWords = (name: string) => name.replaceAll(".", " ").replaceAll("_", " ");

/** Moves by one record; from the present to the last but one. */
export function step(store: Store, by: 1 | -1): void {
  void showOrLoad(store, (store.moment.value ?? store.history.events.length) + by);
}

/** Shows the moment `count`, with the next frame if `isSoon`; before the first one that is loaded, the one before that. */
async function showOrLoad(store: Store, count: number, isSoon = false): Promise<void> {
  const { history } = store;
  if (count > 1 || !history.hasEarlier) return isSoon ? store.showSoon(count) : store.show(count);
  store.show(1);
  const all = history.events.length;
  if (await store.loadEarlier()) store.show(history.events.length - all + count);
}

/** The next moment that fits, loading earlier ones as far as it takes. */
async function seek(store: Store, from: number, by: 1 | -1, fits: (event: RunEvent) => boolean): Promise<void> {
  const { history } = store;
  for (;;) {
    const found = history.seek(from, by, fits);
    if (found !== from) return store.show(found);
    const all = history.events.length;
    if (by === 1 || !(await store.loadEarlier())) return;
    from += history.events.length - all;
  }
}

/** The records at which other runs branched off from this one. */
async function forksOf(run: string): Promise<ReadonlySet<number>> {
  const { branches } = await call("GET /api/v1/runs/{id}/branches", { path: { id: run } });
  return new Set(branches.filter((branch) => branch.from === run).map((branch) => branch.at));
}

const speeds = [1, 4, 16, 64];
const jumps = [["error", isError], ["decision", isDecision], ["agent", isAgent]] as const;

function Jump({ name, to }: { name: string; to: (by: 1 | -1) => void }) {
  return (
    <span class="jump">
      <button type="button" class="plain" aria-label={`${name} before`} onClick={() => to(-1)}>‹</button>
      {name}
      <button type="button" class="plain" aria-label={`next ${name}`} onClick={() => to(1)}>›</button>
    </span>
  );
}

/** What leads to other moments and plays. None of it changes with a step: it is not drawn again. */
class Moves extends Steady<{ store: Store; isEmpty: boolean }> {
  private forks: Promise<ReadonlySet<number>> | null = null;

  private async toFork(by: 1 | -1): Promise<void> {
    const { store } = this.props;
    const places = await (this.forks ??= forksOf(store.run));
    const root = store.history.present.root;
    await seek(store, countOf(store), by, (each) => each.session === root && places.has(each.seq));
  }
  override render({ store, isEmpty }: { store: Store; isEmpty: boolean }) {
    return (
      <>
        <span class="jumps">
          {jumps.map(([name, fits]) => <Jump key={name} name={name} to={(by) => void seek(store, countOf(store), by, fits)} />)}
          {!isFile() && <Jump name="fork" to={(by) => void this.toFork(by)} />}
        </span>
        <Player store={store} isEmpty={isEmpty} />
      </>
    );
  }
}

function Player({ store, isEmpty }: { store: Store; isEmpty: boolean }) {
  const speed = useSignal(4);
  const plays = store.speed.value > 0;
  return (
    <span class="player">
      <button type="button" aria-pressed={plays} onClick={() => store.play(plays ? 0 : speed.value)} disabled={isEmpty}>
        {plays ? "Stop playing" : "Play"}
      </button>
      <select
        aria-label="Speed" value={String(speed.value)}
        onChange={(change) => {
          speed.value = Number(change.currentTarget.value);
          if (plays) store.play(speed.value);
        }}
      >
        {speeds.map((each) => <option key={each} value={String(each)}>{each}×</option>)}
      </select>
    </span>
  );
}

/** How many events have happened at the moment that is shown. */
const countOf = (store: Store): number => store.moment.peek() ?? store.history.events.length;

function Slider({ store }: { store: Store }) {
  void store.version.value;
  const { history } = store;
  const all = history.events.length;
  const at = store.moment.value ?? all;
  const event = history.events[at - 1];
  const words = event === undefined ? "" : `${at}/${all} ${eventWords(event.event)} · ${moment(event.time)}`;
  return (
    <>
      <button type="button" class="plain" onClick={() => step(store, -1)} disabled={at <= 1 && !history.hasEarlier} aria-label="Record before">◂</button>
      <input
        type="range" min={1} max={Math.max(1, all)} value={store.sought ?? at} aria-label="Moment of the run" disabled={all === 0}
        aria-valuetext={event === undefined ? "" : `${at} of ${all}: ${eventWords(event.event)}`}
        onInput={(change) => void showOrLoad(store, Number(change.currentTarget.value), true)}
      />
      <button type="button" class="plain" onClick={() => step(store, 1)} disabled={!store.isPast.value} aria-label="Next record">▸</button>
      <span class="moment">{words}</span>
    </>
  );
}

export function Scrubber({ store }: { store: Store }) {
  const error = useSignal("");
  const isEmpty = useComputed(() => (void store.version.value, store.history.events.length === 0)).value;
  const hasEarlier = useComputed(() => (void store.version.value, store.history.hasEarlier)).value;
  const isPast = store.isPast.value;
  const fork = async () => {
    const event = store.history.events[countOf(store) - 1];
    if (event === undefined) return;
    error.value = "";
    try {
      const made = await call("POST /api/v1/runs/{id}/fork", { path: { id: event.session }, body: { seq: event.seq } });
      go({ view: "run", run: made.id });
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  return (
    <div class={"scrubber" + (isPast ? " past" : "")}>
      <Slider store={store} />
      {hasEarlier && <span class="quiet">earlier ones are loaded when you go back</span>}
      <Moves store={store} isEmpty={isEmpty} />
      {!isFile() && <button type="button" onClick={() => void fork()} disabled={isEmpty}>Fork from here</button>}
      <button type="button" class={isPast ? "main" : ""} onClick={() => store.show(null)} disabled={!isPast}>{isFile() ? "End" : "Live"}</button>
      <Failed error={error.value} />
    </div>
  );
}

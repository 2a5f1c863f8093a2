// The run that is open: its events, the moment that is shown, the agent and record that are chosen.
import { batch, computed, signal } from "@preact/signals";
import { lastEvents } from "../api/begin.ts";
import { call, Refusal } from "../api/client.ts";
import { connection, follow } from "../api/stream.ts";
import type { TreeNode } from "../api/types.ts";
import { History, nodeOf, pauseBetween, type Page } from "../model/history.ts";
import type { Agent, RunState } from "../model/run_state.ts";
import { go, place } from "../router.ts";

/** Records of which the events are loaded with each look back: of one agent, and of all. */
const [ofOne, atOnce] = [1000, 5000];

/** So many events may come in before the oldest ones are forgotten. They are loaded again when they are looked for. */
const mostGrown = 1000;

type Answer = { run_id: string; events: object[]; agents: TreeNode[]; has_earlier: boolean; last_event_id: string };
const pageOf = (answer: Answer): Page => ({ ...answer, events: answer.events as Page["events"] });

export class Store {
  readonly history = new History();
  /** Grows when the present changes, at most once in a frame. */
  readonly version = signal(0);
  /** Grows with `version`, at most four times in a second: for what is costly to draw. */
  readonly calm = signal(0);
  /** How many events have happened at the moment that is shown; null: the present. */
  readonly moment = signal<number | null>(null);
  /** A past moment is shown. */
  readonly isPast = computed(() => this.moment.value !== null);
  readonly error = signal("");
  readonly closed = signal<ReadonlySet<string>>(new Set());
  private isDue = false;
  private isCalmDue = false;
  private wanted = place.value.view === "run" ? place.value.record : undefined;
  /** Earlier events are being loaded. */
  readonly isLoading = signal(false);
  private isClosed = false;
  private end = () => {};
  private grown = 0;
  /** The reader looks at what was said earlier, which must not go away. */
  readsBack = false;

  constructor(readonly run: string) {
    void this.open();
  }

  /** Shows the last events, then what happens. */
  private async open(): Promise<void> {
    connection.value = "connecting";
    for (let pause = 200; !this.isClosed; pause = Math.min(pause * 2, 4000)) {
      try {
        const last = await lastEvents(this.run);
        if (this.isClosed) return;
        this.history.begin(last.run_id, pageOf(last));
        this.changed();
        this.follow(last.last_event_id);
        if (last.has_earlier) await this.readTree();
        return;
      } catch (refusal) {
        const status = refusal instanceof Refusal ? refusal.status : 0;
        if (status > 0 && status < 500 && status !== 429) return this.refuse(status);
        connection.value = "lost";
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  private refuse(status: number): void {
    this.error.value = status === 404 ? "There is no such run, or this token may not see it." : `The server refused the events (${status}).`;
  }

  private follow(after: string): void {
    const follower = {
      event: (event: Page["events"][number]) => {
        this.history.add(event);
        if (event.id !== undefined && ++this.grown >= mostGrown) void this.forgetOld();
        this.changed();
      },
      renewed: () => {
        this.history.present.forgetPieces();
        this.changed();
      },
      refused: (status: number) => this.refuse(status),
    };
    this.end = follow(`/api/v1/runs/${encodeURIComponent(this.run)}/events`, follower, after);
  }

  /** Keeps only the end of the run, unless something earlier is looked at. */
  private async forgetOld(): Promise<void> {
    if (this.moment.value !== null || this.readsBack || this.isLoading.value) return;
    this.grown = 0;
    await this.load(async () => {
      const page = pageOf(await lastEvents(this.run));
      const nodes = await this.nodes();
      if (this.isClosed || this.moment.value !== null || this.readsBack || !page.has_earlier) return;
      this.history.beginAgain(page);
      this.history.know(nodes);
    });
  }

  private async nodes(): Promise<TreeNode[]> {
    return (await call("GET /api/v1/runs/{id}/tree/rows", { path: { id: this.run } })).rows.map(nodeOf);
  }

  private async readTree(): Promise<void> {
    this.history.know(await this.nodes());
    this.changed();
  }

  /** Loads the events before those that are there; true if there are more now. */
  async loadEarlier(): Promise<boolean> {
    const before = this.history.events[0]?.id;
    if (!this.history.hasEarlier || before === undefined || this.isLoading.value) return false;
    return this.load(async () => {
      const page = pageOf(await call("GET /api/v1/runs/{id}/history", { path: { id: this.run }, query: { before, limit: atOnce } }));
      if (this.moment.value !== null) this.moment.value += page.events.length;
      this.history.prepend(page);
    });
  }

  /** Loads the events of one agent before those of it that are there. */
  async loadEarlierOf(agent: string): Promise<boolean> {
    if (!this.history.hasEarlierOf(agent) || this.isLoading.value) return false;
    return this.load(async () => {
      const query = { before: this.history.firstOf(agent), limit: ofOne, below: false };
      this.history.prependOf(agent, pageOf(await call("GET /api/v1/runs/{id}/history", { path: { id: agent }, query })));
    });
  }

  private async load(what: () => Promise<void>): Promise<boolean> {
    this.isLoading.value = true;
    try {
      await what();
      this.changed();
      return true;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1000)); // before it can be asked for again
      return false;
    } finally {
      this.isLoading.value = false;
    }
  }

  close(): void {
    this.isClosed = true;
    this.play(0);
    this.end();
  }

  /** How many times faster than it happened the run is played; 0: it is not. */
  readonly speed = signal(0);
  private timer = 0;

  /** Plays from the moment that is shown, from the beginning if that is the present; 0 ends it. */
  play(speed: number): void {
    clearTimeout(this.timer);
    this.speed.value = speed;
    if (speed === 0) return;
    if (this.moment.value === null) this.show(1);
    this.playOn();
  }

  private playOn(): void {
    const { events } = this.history;
    const at = this.moment.value;
    if (at === null || at >= events.length) return this.play(0);
    const pause = pauseBetween(events[at - 1], events[at], this.speed.value);
    this.timer = window.setTimeout(() => {
      this.show(at + 1);
      this.playOn();
    }, pause);
  }

  private changed(): void {
    if (this.isDue) return;
    this.isDue = true;
    // Not a frame alone: in a tab in the background there are none.
    const draw = () => {
      if (!this.isDue) return;
      this.isDue = false;
      this.version.value++;
      if (!this.isCalmDue) {
        this.isCalmDue = true;
        setTimeout(() => {
          this.isCalmDue = false;
          this.calm.value++;
        }, this.calm.value === 0 ? 0 : 250);
      }
      this.showWanted();
    };
    requestAnimationFrame(draw);
    setTimeout(draw, 200);
  }

  /** A link to a record shows the run as it was then, once the record is there. */
  private showWanted(): void {
    if (this.wanted === undefined) return;
    const count = this.history.countAt(this.chosen.peek(), this.wanted);
    if (count === 0) return void this.loadEarlier();
    this.wanted = undefined;
    if (count < this.history.events.length) this.moment.value = count;
  }

  /** The run at the moment that is shown. It changes in place: who draws it reads `version` or `calm` too. */
  shown(): RunState {
    const at = this.moment.value;
    return at === null ? this.history.present : this.history.at(at);
  }

  /** The id of the agent that is chosen, in the present or not. */
  readonly chosen = computed<string>(() => {
    void this.version.value;
    const at = place.value;
    return (at.view === "run" ? at.agent : undefined) ?? (this.history.present.root || this.run);
  });

  /** The agent that is chosen, at the moment that is shown. */
  agent(): Agent | undefined {
    void this.version.value;
    return this.shown().agents.get(this.chosen.value);
  }

  readonly record = computed<number | null>(() => (place.value.view === "run" ? (place.value.record ?? null) : null));

  choose(agent: string, record?: number): void {
    go({ view: "run", run: this.run, agent, record }, place.value.view === "run" && place.value.agent === agent);
  }

  /** Where `showSoon` leads to; null: it is there. */
  sought: number | null = null;

  /** Shows the run after `count` events; the present after all of them. */
  show(count: number | null): void {
    const all = this.history.events.length;
    this.sought = null;
    batch(() => {
      this.moment.value = count === null || count >= all ? null : Math.max(1, count);
      const event = this.moment.value === null ? undefined : this.history.events[this.moment.value - 1];
      // Quietly, also to another agent: each step through time would be one of the browser's history.
      if (event !== undefined) go({ view: "run", run: this.run, agent: event.session, record: event.seq }, true);
    });
  }

  /** Shows the run after `count` events with the next frame; of several counts before that the last one. */
  showSoon(count: number): void {
    const isAsked = this.sought !== null;
    this.sought = count;
    if (isAsked) return;
    requestAnimationFrame(() => {
      if (this.sought !== null && !this.isClosed) this.show(this.sought);
    });
  }

  toggle(agent: string): void {
    const next = new Set(this.closed.value);
    if (!next.delete(agent)) next.add(agent);
    this.closed.value = next;
  }
}

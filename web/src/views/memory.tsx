// What agents remember: collections, and a search that says why it ranks as it does.
import { effect, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { MemoryAnswer, MemoryNote } from "../api/types.ts";
import { moment } from "../model/words.ts";
import { Failed } from "../ui/parts.tsx";

const answer = signal<MemoryAnswer | null>(null);
const error = signal("");
const query = signal({ q: "", collection: "" });

async function read(): Promise<void> {
  const asked = query.value;
  try {
    const got = await call("GET /api/v1/memory", { query: asked });
    if (query.value !== asked) return;
    answer.value = got;
    error.value = "";
  } catch (refusal) {
    error.value = (refusal as Error).message;
  }
}

/** The places in the rankings whose sum decides. */
function reason({ ranks, terms }: MemoryNote): string {
  if (ranks === undefined) return "";
  const places = ([["whole words", ranks.words], ["parts of words", ranks.pieces], ["meaning", ranks.meaning], ["last written", ranks.recency]] as const)
    .filter(([, place]) => place !== null)
    .map(([name, place]) => `${name} #${place}`);
  return `${terms?.length ? `has ${terms.join(", ")}; ` : ""}${places.join(", ")}`;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function Memory() {
  useEffect(() => effect(() => { void query.value; void read(); }), []);
  const shown = answer.value;
  return (
    <main class="page">
      <h1>Memory</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>Search <input type="search" value={query.value.q} onInput={(event) => (query.value = { ...query.value, q: event.currentTarget.value })} /></label>
        <label>
          in{" "}
          <select value={query.value.collection} onChange={(event) => (query.value = { ...query.value, collection: event.currentTarget.value })}>
            <option value="">all collections</option>
            {shown?.collections.map((each) => <option key={each.name} value={each.name}>{each.name} ({each.notes})</option>)}
          </select>
        </label>
      </form>
      <Failed error={error.value} />
      {shown?.collections.length === 0 && <p class="empty">The memory is empty.</p>}
      {shown !== null && shown.collections.length > 0 && shown.notes.length === 0 && (
        <p class="empty">{query.value.q === "" && query.value.collection === "" ? "Search, or choose a collection." : "Nothing found."}</p>
      )}
      <ol class="notes" aria-label="Notes">
        {shown?.notes.map((note) => (
          <li key={note.collection + " " + note.key}>
            <p><code>{note.collection}</code> <b dir="auto">{note.key}</b> <span class="quiet">{moment(note.written)}</span></p>
            <pre tabIndex={0} dir="auto">{textOf(note.value).slice(0, 4000)}</pre>
            {note.ranks !== undefined && <p class="quiet why">{reason(note)}</p>}
          </li>
        ))}
      </ol>
    </main>
  );
}

// Addresses of views. They are in the fragment, which no server sees.
import { computed, signal } from "@preact/signals";

export type Place =
  | { view: "runs" | "inbox" | "usage" }
  | { view: "login"; code: string }
  | { view: "run"; run: string; agent?: string; record?: number };

export function placeOf(hash: string): Place {
  const [view, ...rest] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  if (view === "inbox" || view === "usage") return { view };
  if (view === "login" && rest[0]) return { view, code: rest[0] };
  if (view !== "run" || !rest[0]) return { view: "runs" };
  const place: Place = { view, run: rest[0] };
  for (let at = 1; at + 1 < rest.length; at += 2) {
    if (rest[at] === "agent") place.agent = rest[at + 1];
    if (rest[at] === "record" && Number(rest[at + 1]) > 0) place.record = Number(rest[at + 1]);
  }
  return place;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(place: Place): string {
  if (place.view === "login") return "#/login/" + encodeURIComponent(place.code);
  if (place.view !== "run") return "#/" + place.view;
  const agent = place.agent === undefined || place.agent === place.run ? "" : "/agent/" + encodeURIComponent(place.agent);
  return `#/run/${encodeURIComponent(place.run)}${agent}${place.record === undefined ? "" : "/record/" + place.record}`;
}

const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));
export const place = computed(() => placeOf(hash.value));

/** Goes to a place; `quietly` without a step in the browser's history. */
export function go(to: Place, quietly = false): void {
  if (quietly) history.replaceState(null, "", address(to));
  else history.pushState(null, "", address(to));
  hash.value = location.hash;
}

// Addresses of views. They are in the fragment, which no server sees.
import { computed, signal } from "@preact/signals";

export type Place =
  | { view: "runs"; filter?: string }
  | { view: "inbox" | "usage" | "settings" | "memory" | "doctor" }
  | { view: "prompts"; prompt?: string }
  | { view: "agents"; agent?: string }
  | { view: "login"; code: string }
  | { view: "branches" | "files"; run: string }
  | { view: "compare"; run: string; other: string }
  | { view: "playground"; run: string; record: number }
  | { view: "run"; run: string; agent?: string; record?: number };

export function placeOf(hash: string): Place {
  const [path = "", filter] = hash.split("?", 2);
  const [view, ...rest] = path.replace(/^#\/?/, "").split("/").map(decoded);
  if (view === "inbox" || view === "usage" || view === "settings" || view === "memory" || view === "doctor") return { view };
  if (view === "prompts") return rest[0] ? { view, prompt: rest[0] } : { view };
  if (view === "agents") return rest[0] ? { view, agent: rest[0] } : { view };
  if (view === "login" && rest[0]) return { view, code: rest[0] };
  if ((view === "branches" || view === "files") && rest[0]) return { view, run: rest[0] };
  if (view === "compare" && rest[0] && rest[1]) return { view, run: rest[0], other: rest[1] };
  if (view === "playground" && rest[0] && Number(rest[1]) > 0) return { view, run: rest[0], record: Number(rest[1]) };
  if (view !== "run" || !rest[0]) return filter ? { view: "runs", filter } : { view: "runs" };
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

const joined = (...parts: string[]): string => "#/" + parts.map(encodeURIComponent).join("/");

export function address(place: Place): string {
  switch (place.view) {
    case "runs":
      return "#/runs" + (place.filter ? "?" + place.filter : "");
    case "login":
      return joined("login", place.code);
    case "branches":
    case "files":
      return joined(place.view, place.run);
    case "compare":
      return joined("compare", place.run, place.other);
    case "playground":
      return joined("playground", place.run, String(place.record));
    case "prompts":
      return place.prompt === undefined ? "#/prompts" : joined("prompts", place.prompt);
    case "agents":
      return place.agent === undefined ? "#/agents" : joined("agents", place.agent);
    case "run": {
      const agent = place.agent === undefined || place.agent === place.run ? [] : ["agent", place.agent];
      return joined("run", place.run, ...agent, ...(place.record === undefined ? [] : ["record", String(place.record)]));
    }
    default:
      return "#/" + place.view;
  }
}

const hash = signal(location.hash);
export const place = computed(() => placeOf(hash.value));

/** Browsers refuse more than some 200 changes of the address in ten seconds, and each takes milliseconds. */
const rest = 250;
let timer: ReturnType<typeof setTimeout> | undefined;
let isDue = false;
let written = location.hash;

addEventListener("hashchange", () => {
  [isDue, written] = [false, location.hash];
  hash.value = location.hash;
});

function write(how: "pushState" | "replaceState", to: string): void {
  history[how](null, "", to);
  written = location.hash;
  isDue = false;
}

/** Puts `hash` into the address: at once if it has rested, else when it rests. */
function replace(): void {
  isDue = timer !== undefined;
  if (timer === undefined) write("replaceState", hash.value);
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = undefined;
    // A link may have been followed in between, of which the event is still to come.
    if (isDue && location.hash === written) write("replaceState", hash.value);
  }, rest);
}

/** Goes to a place; `quietly` without a step in the browser's history. */
export function go(to: Place, quietly = false): void {
  const next = address(to);
  if (quietly) {
    hash.value = next;
    return replace();
  }
  if (isDue) write("replaceState", hash.value);
  write("pushState", next);
  hash.value = next;
}

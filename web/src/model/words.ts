// Numbers, times and names as people read them.

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
/** Numbers that were written before: the format of the browser takes as long as drawing a row. */
const written = new Map<number, string>();
export function tokens(count: number): string {
  let text = written.get(count);
  if (text === undefined) {
    if (written.size >= 1000) written.clear();
    written.set(count, (text = compact.format(count)));
  }
  return text;
}

export function cost(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return "–";
  if (dollars === 0) return "$0";
  return "$" + (dollars < 0.01 ? dollars.toFixed(4) : dollars.toFixed(2));
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`;
}

const dayAndTime = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const timeOnly = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** In the reader's zone; without the day if it is today. */
export function moment(iso: string): string {
  const at = new Date(iso);
  return at.toDateString() === new Date().toDateString() ? timeOnly.format(at) : dayAndTime.format(at);
}

/** The end of an id, which tells apart those that were made at about the same time. */
export const shortId = (id: string): string => id.slice(-6).toLowerCase();

const statusWords: Record<string, string> = { awaiting_user: "waits for you", error: "failed", not_started: "not started" };
export const statusText = (status: string): string => statusWords[status] ?? status.replaceAll("_", " ");

/** The kinds of status that look alike. */
export function statusTone(status: string): "running" | "waiting" | "good" | "bad" | "idle" {
  if (status === "running" || status === "working") return "running";
  if (status.startsWith("awaiting") || status === "waiting") return "waiting";
  if (status === "completed" || status === "finished") return "good";
  if (/fail|error|timed|cancel|delet|stop/.test(status)) return "bad";
  return "idle";
}

/** A hue that an agent's name always has. */
export function hue(name: string): number {
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)!) % 3600;
  return (sum * 137) % 360;
}

export function pretty(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value, null, 2) ?? "";
  try {
    return JSON.stringify(JSON.parse(value), null, 2);
  } catch {
    return value;
  }
}

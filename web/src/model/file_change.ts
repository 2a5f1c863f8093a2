// What a call of a built-in tool wrote into a file, as lines of a change.

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** The lines that one piece of text had and has; those at both ends that stay are marked as such. */
function replaced(a: string[], b: string[]): string[] {
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin++;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return [
    ...a.slice(0, begin).map((line) => " " + line),
    ...a.slice(begin, a.length - end).map((line) => "-" + line),
    ...b.slice(begin, b.length - end).map((line) => "+" + line),
    ...a.slice(a.length - end).map((line) => " " + line),
  ];
}

/** The lines of a text that became another one. */
export const lineChanges = (before: string, after: string): string[] => replaced(linesOf(before), linesOf(after));

/** The first line names the file; undefined: the call changes none that is known. */
export function changeOf(tool: string, args: unknown): string[] | undefined {
  if (args === null || typeof args !== "object") return undefined;
  const given = args as Record<string, unknown>;
  const path = given.path;
  if (typeof path !== "string") return undefined;
  if (tool === "file_write" && typeof given.content === "string") {
    return [`${path}: the whole file`, ...linesOf(given.content).map((line) => "+" + line)];
  }
  if (tool !== "edit" || !Array.isArray(given.edits)) return undefined;
  const lines = [path];
  for (const each of given.edits as { old?: unknown; replacement?: unknown }[]) {
    if (typeof each?.old !== "string" || typeof each.replacement !== "string") return undefined;
    if (lines.length > 1) lines.push("@@");
    lines.push(...replaced(linesOf(each.old), linesOf(each.replacement)));
  }
  return lines;
}

const shown = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The address of an image whose bytes are in the message; undefined for what a browser should not draw. */
export function imageOf(part: { type: string; mime?: unknown; data?: unknown }): string | undefined {
  if (part.type !== "image" || typeof part.mime !== "string" || typeof part.data !== "string") return undefined;
  if (!shown.has(part.mime) || !/^[A-Za-z0-9+/=]*$/.test(part.data)) return undefined;
  return `data:${part.mime};base64,${part.data}`;
}

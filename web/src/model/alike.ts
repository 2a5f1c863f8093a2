// Which steps of the inbox ask for the same.

interface Asked {
  kind: string;
  prompt: string;
  tool?: string;
  arguments?: unknown;
  schema?: unknown;
}

/** The value with the members of its objects in order, so that equal values have equal texts. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, ordered(each)]));
}

/** Equal for calls of one tool with the same arguments, and for the same question. */
export function keyOfAlike(step: Asked): string {
  const what = step.tool === undefined || step.tool === "" ? [step.prompt, ordered(step.schema)] : [step.tool, ordered(step.arguments)];
  return JSON.stringify([step.kind, ...what]);
}

/** The steps that ask for the same as `step`, with it. */
export function alikeTo<S extends Asked>(step: S, all: readonly S[]): S[] {
  const key = keyOfAlike(step);
  return all.filter((each) => keyOfAlike(each) === key);
}

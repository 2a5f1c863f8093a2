// Calls the server. The token is kept for the tab only and travels in a header, never in an address.
import { signal } from "@preact/signals";
import type { Answers, Routes } from "./routes.ts";

const kept = "praxis-token";
export const token = signal(sessionStorage.getItem(kept) ?? "");

export function keepToken(text: string): void {
  token.value = text;
  if (text === "") sessionStorage.removeItem(kept);
  else sessionStorage.setItem(kept, text);
}

/** Forgets a token that the server refused, unless another was given since: its answer may come late. */
export function forget(refused: string): void {
  if (token.value === refused) keepToken("");
}

/** A refusal of the server, or no answer (`status` 0). */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly field?: string,
  ) {
    super(message);
  }
}

/** Answers requests instead of a server: the page is a file that has its run inside. */
export const source: { answer?: (route: string, needs: Given) => unknown } = {};
export const isFile = (): boolean => source.answer !== undefined;

export function headers(): Record<string, string> {
  return { Authorization: `Bearer ${token.value}` };
}

async function refusalOf(answer: Response, used: string): Promise<Refusal> {
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401) forget(used);
  const hint = typeof problem.hint === "string" ? ` (${problem.hint})` : "";
  return new Refusal(answer.status, (problem.detail ?? `the server answered ${answer.status}`) + hint, problem.field);
}

async function send(method: string, path: string, body?: object): Promise<Response> {
  const used = token.value;
  const request: RequestInit = { method, headers: headers(), cache: "no-store" };
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    request.headers = { ...headers(), "Content-Type": "application/json" };
  }
  let answer: Response;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new Refusal(0, "the server does not answer");
  }
  if (!answer.ok) throw await refusalOf(answer, used);
  return answer;
}

/** Reads a file of the server; throws a Refusal. */
export async function load(path: string): Promise<Blob> {
  return (await send("GET", path)).blob();
}

export interface Given {
  path?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  body?: object;
}

/** Makes one request; throws a Refusal. */
export async function call<R extends keyof Answers & keyof Routes>(route: R, needs: Routes[R]): Promise<Answers[R]> {
  if (source.answer !== undefined) return source.answer(route, needs) as Answers[R];
  const [method, pattern] = route.split(" ") as [string, string];
  const given = needs as Given;
  let path = pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(given.path?.[name] ?? ""));
  const query = Object.entries(given.query ?? {}).filter(([, value]) => value !== undefined && value !== "");
  if (query.length > 0) path += "?" + new URLSearchParams(query.map(([name, value]) => [name, String(value)]));
  return (await send(method, path, given.body)).json();
}

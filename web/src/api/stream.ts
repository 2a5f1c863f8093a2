// An event stream that comes back by itself. Uses fetch and not EventSource, so that the token is in a header.
import { signal } from "@preact/signals";
import { forget, headers, isFile, token } from "./client.ts";
import { compareIds, reader } from "./sse.ts";
import type { RunEvent } from "./types.ts";

export type Connection = "connecting" | "live" | "lost";
/** How the stream of the open view is. */
export const connection = signal<Connection>("connecting");

export interface Follower {
  /** Each event once, in order; those that have an `id` are never repeated. */
  event(event: RunEvent): void;
  /** The connection is new: pieces of answers that are not whole begin again. */
  renewed(): void;
  /** The stream cannot be had, such as for a run that does not exist. */
  refused?(status: number): void;
}

const firstPause = 200;
const longestPause = 4000;
const silence = 45_000; // the server sends a comment more often

/** Follows a stream until the returned function is called. */
export function follow(path: string, follower: Follower, from?: string): () => void {
  if (isFile()) {
    connection.value = "live"; // all that happened is there
    return () => undefined;
  }
  let last = from;
  let ended = false;
  let abort = new AbortController();
  let pause = firstPause;
  const take = (sent: { id?: string; event: string; data: string }) => {
    if (sent.event === "reconnect" || sent.event === "shutdown") return abort.abort();
    if (sent.id !== undefined) {
      if (last !== undefined && compareIds(sent.id, last) <= 0) return;
      last = sent.id;
    }
    const event: RunEvent = JSON.parse(sent.data);
    if (sent.id !== undefined) event.id = sent.id;
    follower.event(event);
  };
  const once = async () => {
    abort = new AbortController();
    const used = token.value;
    const request = { headers: { ...headers(), ...(last === undefined ? {} : { "Last-Event-ID": last }) } };
    const answer = await fetch(path, { ...request, signal: abort.signal, cache: "no-store" });
    if (!answer.ok || answer.body === null) {
      if (answer.status === 401) forget(used);
      if (answer.status < 500 && answer.status !== 429) {
        ended = true;
        follower.refused?.(answer.status);
      }
      return;
    }
    follower.renewed();
    connection.value = "live";
    pause = firstPause;
    const put = reader(take);
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const watch = setTimeout(() => abort.abort(), silence);
      const { done, value } = await pieces.read().finally(() => clearTimeout(watch));
      if (done || ended) return;
      put(value);
    }
  };
  const run = async () => {
    while (!ended) {
      await once().catch(() => undefined);
      if (ended) return;
      connection.value = "lost";
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, longestPause);
    }
  };
  connection.value = "connecting";
  void run();
  return () => {
    ended = true;
    abort.abort();
  };
}

// Tells the person at the browser that a step arrived, if they asked for it.
import { signal } from "@preact/signals";
import type { PendingStep } from "../api/types.ts";
import { go } from "../router.ts";

const kept = "praxis-notify";
const isThere = "Notification" in globalThis;

const wanted = () => isThere && localStorage.getItem(kept) === "yes" && Notification.permission === "granted";
export const canNotify = isThere;
export const notifies = signal(wanted());

/** Asks the browser for permission, or ends notifications. */
export async function toggleNotices(): Promise<void> {
  if (notifies.value) localStorage.removeItem(kept);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(kept, "yes");
  notifies.value = wanted();
}

let known: ReadonlySet<string> | null = null;

/** Shows what is new among the steps that wait; what waited when the page was opened is not. */
export function noticeNew(steps: readonly PendingStep[]): void {
  const before = known;
  known = new Set(steps.map((step) => step.id));
  if (before === null || !notifies.value) return;
  const fresh = steps.filter((step) => !before.has(step.id));
  const [first] = fresh;
  if (first === undefined) return;
  const title = fresh.length === 1 ? `${first.path || first.agent} waits for you` : `${fresh.length} steps wait for you`;
  const notice = new Notification(title, { body: fresh.length === 1 ? [first.tool, first.prompt].filter(Boolean).join(": ").slice(0, 200) : "", tag: "praxis-inbox" });
  notice.onclick = () => {
    window.focus();
    go({ view: "inbox" });
    notice.close();
  };
}

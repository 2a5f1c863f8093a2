// Everything that waits for a person, in any run.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pending } from "../live.ts";
import { address, go } from "../router.ts";
import type { PendingStep } from "../api/types.ts";
import { Decision } from "../decide/decision.tsx";
import { decide, draftOf, type Mode, modeOf } from "../decide/draft.ts";
import { alikeTo } from "../model/alike.ts";
import { useKeys } from "../ui/keys.ts";
import { canNotify, notifies, toggleNotices } from "../ui/notify.ts";

const chosen = signal("");

const keyOf = (step: { id: string }) => step.id;

function current() {
  return pending.value.find((step) => keyOf(step) === chosen.value) ?? pending.value[0];
}

function move(by: number): void {
  const at = pending.value.findIndex((step) => step === current());
  const to = pending.value[Math.min(pending.value.length - 1, Math.max(0, at + by))];
  if (to === undefined) return;
  chosen.value = keyOf(to);
  document.getElementById("step " + keyOf(to))?.scrollIntoView({ block: "nearest" });
}

function begin(mode: Mode): void {
  const step = current();
  const allowed = step?.allowed ?? ["allow", "deny", "edit", "answer"];
  const needs = mode === "always" ? "allow" : mode;
  if (step === undefined || !allowed.includes(needs)) return;
  if (mode === "always" && !draftOf(step).details.value?.rule) return;
  modeOf(step).value = mode;
  setTimeout(() => document.getElementById("step " + keyOf(step))?.querySelector<HTMLElement>("form :is(textarea, input, select)")?.focus());
}

/** Decides the step and all that ask for the same, one after the other, until one is refused. */
async function decideAll(step: PendingStep, decision: "allow" | "deny"): Promise<void> {
  for (const each of alikeTo(step, pending.value)) {
    if (!each.allowed.includes(decision) || !(await decide(each, { decision }))) return;
  }
}

/** The buttons for steps that ask for the same; at the first of them. */
function Alike({ step }: { step: PendingStep }) {
  const all = alikeTo(step, pending.value);
  if (all.length < 2 || all[0] !== step) return null;
  return (
    <div class="buttons alike">
      <span class="quiet">{all.length} steps ask for exactly this:</span>
      {step.allowed.includes("allow") && <button type="button" onClick={() => void decideAll(step, "allow")}>Allow all {all.length}</button>}
      {step.allowed.includes("deny") && <button type="button" onClick={() => void decideAll(step, "deny")}>Deny all {all.length}</button>}
    </div>
  );
}

export function Inbox() {
  useEffect(() => {
    chosen.value = keyOf(current() ?? { id: "" });
  }, []);
  useKeys("Inbox", () => [
    { key: "j", does: "next step", run: () => move(1) },
    { key: "k", does: "step before", run: () => move(-1) },
    { key: "a", does: "allow", run: () => void (current()?.allowed?.includes("allow") && decide(current()!, { decision: "allow" })) },
    { key: "A", does: "allow it and all that ask for exactly the same", run: () => { const step = current(); if (step) void decideAll(step, "allow"); } },
    { key: "w", does: "allow always, by a rule", run: () => begin("always") },
    { key: "d", does: "deny, with a reason", run: () => begin("deny") },
    { key: "e", does: "edit the arguments", run: () => begin("edit") },
    { key: "r", does: "answer", run: () => begin("answer") },
    { key: "o", does: "open the run", run: () => { const step = current(); if (step) go({ view: "run", run: step.run, agent: step.session }); } },
  ]);
  return (
    <main class="page narrow">
      <header class="row">
        <h1>Inbox</h1>
        {canNotify && (
          <button type="button" aria-pressed={notifies.value} onClick={() => void toggleNotices()}>{notifies.value ? "Notifications are on" : "Notify me"}</button>
        )}
      </header>
      {pending.value.length === 0 && <p class="empty">Nothing waits for you.</p>}
      <ul class="inbox">
        {pending.value.map((step) => (
          <li
            key={keyOf(step)} id={"step " + keyOf(step)} class={step === current() ? "chosen" : ""}
            aria-current={step === current() ? "true" : undefined} onFocusIn={() => (chosen.value = keyOf(step))}
          >
            <p class="where">
              <a href={address({ view: "run", run: step.run, agent: step.session })}>{step.path || step.agent}</a>
              <span class="quiet"> {step.kind.replaceAll("_", " ")}</span>
            </p>
            <Decision step={step} />
            <Alike step={step} />
          </li>
        ))}
      </ul>
    </main>
  );
}

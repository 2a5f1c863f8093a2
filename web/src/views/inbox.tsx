// Everything that waits for a person, in any run.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { pending } from "../live.ts";
import { address, go } from "../router.ts";
import { useKeys } from "../ui/keys.ts";
import { Decision, decide, type Mode, modeOf } from "../run/decision.tsx";

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
  if (step === undefined || !allowed.includes(mode)) return;
  modeOf(step).value = mode;
  setTimeout(() => document.getElementById("step " + keyOf(step))?.querySelector("textarea")?.focus());
}

export function Inbox() {
  useEffect(() => {
    chosen.value = keyOf(current() ?? { id: "" });
  }, []);
  useKeys("Inbox", () => [
    { key: "j", does: "next step", run: () => move(1) },
    { key: "k", does: "step before", run: () => move(-1) },
    { key: "a", does: "allow", run: () => void (current()?.allowed?.includes("allow") && decide(current()!, "allow", "")) },
    { key: "d", does: "deny, with a reason", run: () => begin("deny") },
    { key: "e", does: "edit the arguments", run: () => begin("edit") },
    { key: "r", does: "answer", run: () => begin("answer") },
    { key: "o", does: "open the run", run: () => { const step = current(); if (step) go({ view: "run", run: step.run, agent: step.session }); } },
  ]);
  return (
    <main class="page narrow">
      <h1>Inbox</h1>
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
          </li>
        ))}
      </ul>
    </main>
  );
}

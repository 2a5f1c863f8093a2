// A step that waits for a person: what would run, and the ways to decide.
import { signal, type Signal } from "@preact/signals";
import { call } from "../api/client.ts";
import type { ParkedStep } from "../api/types.ts";
import { pending, readPending } from "../live.ts";
import { pretty } from "../model/words.ts";
import { Failed, TextArea } from "../ui/parts.tsx";

export type Mode = "" | "deny" | "edit" | "answer";

interface Draft {
  mode: Signal<Mode>;
  text: Signal<string>;
  error: Signal<string>;
  isBusy: Signal<boolean>;
}
// What was typed stays while the list is read again.
const drafts = new Map<string, Draft>();

function draftOf(step: ParkedStep): Draft {
  let draft = drafts.get(step.id);
  if (draft === undefined) {
    draft = { mode: signal(step.allowed?.includes("answer") && !step.allowed.includes("allow") ? "answer" : ""), text: signal(""), error: signal(""), isBusy: signal(false) };
    drafts.set(step.id, draft);
  }
  return draft;
}
export const modeOf = (step: ParkedStep): Signal<Mode> => draftOf(step).mode;

/** `session/p1` in two. An event has the session apart. */
function namesOf(step: ParkedStep): { id: string; step: string } {
  const slash = step.id.indexOf("/");
  return slash < 0 ? { id: step.session ?? "", step: step.id } : { id: step.id.slice(0, slash), step: step.id.slice(slash + 1) };
}

export async function decide(step: ParkedStep, decision: "allow" | Mode, text: string): Promise<void> {
  const draft = draftOf(step);
  const body: { decision: string; text?: string; arguments?: object } = { decision };
  draft.error.value = "";
  if (decision === "edit") {
    try {
      body.arguments = JSON.parse(text);
    } catch (problem) {
      draft.error.value = "The arguments are not valid JSON: " + (problem as Error).message;
      return;
    }
  } else if (text !== "") {
    body.text = text;
  }
  draft.isBusy.value = true;
  try {
    await call("POST /api/v1/runs/{id}/steps/{step}", { path: namesOf(step), body });
    drafts.delete(step.id);
    pending.value = pending.value.filter((each) => namesOf(each).id + namesOf(each).step !== namesOf(step).id + namesOf(step).step);
    void readPending().catch(() => undefined);
  } catch (refusal) {
    draft.error.value = (refusal as Error).message;
  }
  draft.isBusy.value = false;
}

const labels = { deny: "Why not? The agent reads it.", edit: "The arguments with which it is to run, as JSON", answer: "Your answer" };
const buttons = { deny: "Deny", edit: "Run with these", answer: "Answer" };

export function Decision({ step }: { step: ParkedStep }) {
  const draft = draftOf(step);
  const mode = draft.mode.value;
  const allowed = step.allowed ?? ["allow", "deny", "edit"];
  const begin = (to: Mode) => {
    draft.mode.value = draft.mode.value === to ? "" : to;
  };
  const text = mode === "edit" && draft.text.value === "" ? pretty(step.arguments ?? {}) : draft.text.value;
  const finish = () => void decide(step, mode, text);
  return (
    <div class="decision">
      <p class="prompt" dir="auto">{step.prompt}</p>
      {step.tool !== undefined && mode !== "edit" && (
        <>
          <p class="tool">{step.tool}</p>
          <pre class="arguments" tabIndex={0}>{pretty(step.arguments)}</pre>
        </>
      )}
      {mode !== "" && (
        <form
          key={mode}
          onSubmit={(event) => {
            event.preventDefault();
            finish();
          }}
        >
          <TextArea
            label={labels[mode]} placeholder={labels[mode]} value={text} mono={mode === "edit"}
            change={(value) => (draft.text.value = value)} submit={finish} focus={allowed.includes("allow")}
          />
          <div class="buttons">
            <button class="main" disabled={draft.isBusy.value}>{buttons[mode]}</button>
            {allowed.includes("allow") && (
              <button type="button" onClick={() => { draft.mode.value = ""; draft.text.value = ""; draft.error.value = ""; }}>Back</button>
            )}
          </div>
        </form>
      )}
      <Failed error={draft.error.value} />
      {mode === "" && (
        <div class="buttons">
          {allowed.includes("allow") && (
            <button type="button" class="main" disabled={draft.isBusy.value} onClick={() => void decide(step, "allow", "")}>Allow</button>
          )}
          {allowed.includes("deny") && <button type="button" onClick={() => begin("deny")}>Deny…</button>}
          {allowed.includes("edit") && <button type="button" onClick={() => begin("edit")}>Edit…</button>}
          {allowed.includes("answer") && <button type="button" onClick={() => begin("answer")}>Answer…</button>}
        </div>
      )}
    </div>
  );
}

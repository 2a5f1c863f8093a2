// A step that waits for a person: what would run, what it changes, and the ways to decide.
import { useEffect } from "preact/hooks";
import type { WaitingStep } from "../api/types.ts";
import { fieldsOf } from "../model/form.ts";
import { pretty } from "../model/words.ts";
import { Diff } from "../ui/diff.tsx";
import { Failed, TextArea } from "../ui/parts.tsx";
import { decide, type Decision as Body, type Draft, draftOf, type Mode, readDetails } from "./draft.ts";
import { answerOf, SchemaForm } from "./schema_form.tsx";
import { problems } from "./schema.ts";

const labels = {
  deny: "Why not? The agent reads it.",
  edit: "The arguments with which it is to run, as JSON",
  answer: "Your answer",
  always: "The rule, as JSON",
};
const buttons = { deny: "Deny", edit: "Run with these", answer: "Answer", always: "Save the rule and allow" };

/** What is in the field of a mode: what was typed, or what it begins with. */
function textOf(step: WaitingStep, draft: Draft, mode: Mode): string {
  const typed = draft.texts.value[mode];
  if (typed !== undefined) return typed;
  if (mode === "edit") return pretty(step.arguments ?? {});
  if (mode === "always") return pretty(draft.details.value?.rule?.call ?? {});
  return "";
}

function parsed(text: string): { value?: object; error?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return { error: "It must be an object, in braces." };
    return { value };
  } catch (problem) {
    return { error: "It is not valid JSON: " + (problem as Error).message };
  }
}

const hasForm = (step: WaitingStep): boolean => step.schema !== undefined && step.schema !== null && fieldsOf(step.schema) !== undefined;

/** What is wrong with what is written, in words; it is checked while it is typed. */
function wrongWith(step: WaitingStep, draft: Draft, mode: Mode, text: string): string[] {
  if (mode === "answer" && hasForm(step)) {
    return answerOf(step.schema, draft.values.value).wrong.map((each) => `${each.at || "The answer"}: ${each.message}`);
  }
  if (mode !== "edit" && mode !== "always") return [];
  const { value, error } = parsed(text);
  if (error !== undefined) return [error];
  if (mode === "always") return [];
  return problems(draft.details.value?.parameters, value).map((each) => (each.at === "" ? "" : each.at + ": ") + each.message);
}

/** What is sent for the mode. */
function bodyOf(step: WaitingStep, draft: Draft, mode: Mode, text: string): Body {
  if (mode === "edit") return { decision: "edit", arguments: parsed(text).value };
  if (mode === "always") return { decision: "allow", rule: parsed(text).value };
  if (mode === "answer" && hasForm(step)) {
    const { value } = answerOf(step.schema, draft.values.value);
    return { decision: "answer", text: typeof value === "string" ? value : JSON.stringify(value) };
  }
  return { decision: mode === "deny" ? "deny" : "answer", ...(text === "" ? {} : { text }) };
}

function Form({ step, draft, mode }: { step: WaitingStep; draft: Draft; mode: Exclude<Mode, ""> }) {
  const text = textOf(step, draft, mode);
  const wrong = wrongWith(step, draft, mode, text);
  const isForm = mode === "answer" && hasForm(step);
  const finish = () => {
    if (wrong.length > 0) {
      draft.error.value = wrong.join(" ");
      draft.left.value = new Set((fieldsOf(step.schema) ?? []).map((field) => field.name));
    } else {
      void decide(step, bodyOf(step, draft, mode, text));
    }
  };
  const back = () => {
    draft.mode.value = "";
    draft.error.value = "";
    draft.texts.value = {};
  };
  const isJson = mode === "edit" || mode === "always";
  const rule = draft.details.value?.rule;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        finish();
      }}
    >
      {mode === "always" && (
        <p class="quiet" dir="auto">
          From now on, calls that this rule fits need no approval for {rule?.files.join(", ") ?? "this agent"}. It must fit this call; <code>"any_ending": true</code> also
          allows more words at the end of a command.
        </p>
      )}
      {isForm ? (
        <SchemaForm id={step.id} schema={step.schema} filled={draft} />
      ) : (
        <TextArea
          label={labels[mode]} placeholder={labels[mode]} value={text} mono={isJson} submit={finish} focus={step.allowed.includes("allow")} invalid={isJson && wrong.length > 0}
          change={(value) => {
            draft.texts.value = { ...draft.texts.value, [mode]: value };
            draft.error.value = "";
          }}
        />
      )}
      {isJson && <ul class="wrong" role="status" aria-label="What is wrong">{wrong.map((each) => <li key={each} dir="auto">{each}</li>)}</ul>}
      <div class="buttons">
        <button class="main" disabled={draft.isBusy.value}>{buttons[mode]}</button>
        {(step.allowed.includes("allow") || mode === "deny") && <button type="button" onClick={back}>Back</button>}
      </div>
    </form>
  );
}

export function Decision({ step }: { step: WaitingStep }) {
  const draft = draftOf(step);
  useEffect(() => void readDetails(step), [step.id]);
  const mode = draft.mode.value;
  const details = draft.details.value;
  const has = (what: string) => step.allowed.includes(what);
  const begin = (to: Mode) => (draft.mode.value = to);
  return (
    <div class="decision">
      <p class="prompt" dir="auto">{step.prompt}</p>
      {step.tool !== undefined && step.tool !== "" && mode !== "edit" && (
        <>
          <p class="tool" title={details?.description ?? undefined}>{step.tool}</p>
          {details !== null && details.changes.length > 0 && <Diff lines={details.changes} />}
          <details class="plain-arguments" open={details === null || details.changes.length === 0}>
            <summary>Arguments</summary>
            <pre class="arguments" tabIndex={0}>{pretty(step.arguments)}</pre>
          </details>
        </>
      )}
      {mode !== "" && <Form key={mode} step={step} draft={draft} mode={mode} />}
      <Failed error={draft.error.value} />
      {(mode === "" || (mode === "answer" && !has("allow"))) && (
        <div class="buttons">
          {mode === "" && has("allow") && (
            <button type="button" class="main" disabled={draft.isBusy.value} onClick={() => void decide(step, { decision: "allow" })}>Allow</button>
          )}
          {mode === "" && has("allow") && details !== null && details.rule !== null && <button type="button" onClick={() => begin("always")}>Always…</button>}
          {has("deny") && <button type="button" onClick={() => begin("deny")}>Deny…</button>}
          {mode === "" && has("edit") && <button type="button" onClick={() => begin("edit")}>Edit…</button>}
          {mode === "" && has("answer") && <button type="button" onClick={() => begin("answer")}>Answer…</button>}
        </div>
      )}
    </div>
  );
}

// Small parts that several views show.
import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { statusText, statusTone } from "../model/words.ts";

/** Draws again only if a property changed, other than the function `reach`. */
export abstract class Steady<P extends object> extends Component<P> {
  override shouldComponentUpdate(next: P): boolean {
    return (Object.keys(next) as (keyof P)[]).some((name) => name !== "reach" && next[name] !== this.props[name as keyof typeof this.props]);
  }
}

export function Status({ status, paused = false, short = false, words: given }: { status: string; paused?: boolean; short?: boolean; words?: string }) {
  const tone = paused ? "waiting" : statusTone(status);
  const words = given ?? (paused ? "paused" : statusText(status));
  return (
    <span class={`status ${tone}`} title={words}>
      <i class="dot" aria-hidden="true" />
      <span class={short ? "unseen" : ""}>{words}</span>
    </span>
  );
}

export function Failed({ error }: { error: string }) {
  return error === "" ? null : (
    <p class="failed" role="alert">
      {error}
    </p>
  );
}

/** A dialog that the browser keeps the focus in; Escape closes it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before as HTMLElement | null)?.focus?.();
  }, []);
  return (
    <dialog ref={dialog} onClose={close} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" onClick={() => dialog.current?.close()} aria-label="Close">
          ✕
        </button>
      </header>
      {children}
    </dialog>
  );
}

/** A text area that grows with its text. */
export function TextArea(props: {
  value: string;
  change: (text: string) => void;
  label: string;
  id?: string;
  mono?: boolean;
  placeholder?: string;
  submit?: () => void;
  focus?: boolean;
  disabled?: boolean;
  invalid?: boolean;
}) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (props.focus) area.current?.focus();
  }, []);
  const lines = Math.min(12, Math.max(2, props.value.split("\n").length));
  return (
    <textarea
      ref={area}
      id={props.id}
      class={props.mono ? "mono" : ""}
      rows={lines}
      dir="auto"
      spellcheck={!props.mono}
      aria-label={props.label}
      placeholder={props.placeholder}
      disabled={props.disabled}
      aria-invalid={props.invalid}
      value={props.value}
      onInput={(event) => props.change(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && props.submit) {
          event.preventDefault();
          props.submit();
        }
      }}
    />
  );
}

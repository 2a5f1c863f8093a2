// Views that are loaded when they are first shown.
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";

export function later<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  const loaded = signal<FunctionComponent<P> | null>(null);
  const failed = signal(false);
  let asked = false;
  return (props: P) => {
    if (!asked) {
      asked = true;
      load().then((part) => (loaded.value = part), () => {
        asked = false;
        failed.value = true;
      });
    }
    const Part = loaded.value;
    if (Part !== null) return <Part {...props} />;
    if (!failed.value) return <p class="quiet pad">Loading…</p>;
    return (
      <p class="failed" role="alert">
        A part of the page could not be loaded.{" "}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    );
  };
}

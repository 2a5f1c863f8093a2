// Keys of the page. A view registers its own while it is shown; none counts while a person types.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Key {
  key: string;
  does: string;
  run: () => void;
}
export interface KeyGroup {
  title: string;
  keys: Key[];
}

export const groups = signal<KeyGroup[]>([]);

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

let prefix = "";
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape" && isTyping(event.target)) return (event.target as HTMLElement).blur();
  if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
  const pressed = prefix + event.key;
  prefix = "";
  const all = groups.value.flatMap((group) => group.keys);
  const found = all.findLast((each) => each.key === pressed);
  if (found !== undefined) {
    event.preventDefault();
    found.run();
  } else if (all.some((each) => each.key.startsWith(pressed + " "))) {
    prefix = pressed + " ";
  }
});

/** Registers the keys of a view for as long as it is shown. */
export function useKeys(title: string, keys: () => Key[]): void {
  useEffect(() => {
    const group = { title, keys: keys().map((each) => ({ ...each, run: () => keys().find((k) => k.key === each.key)?.run() })) };
    groups.value = [...groups.value, group];
    return () => {
      groups.value = groups.value.filter((each) => each !== group);
    };
  });
}

// Text as it is until the part that reads Markdown is loaded, then with its Markdown.
import { signal } from "@preact/signals";
import type { FunctionComponent } from "preact";

const loaded = signal<FunctionComponent<{ text: string }> | null>(null);
let asked = false;

// A text without any of these looks the same without Markdown.
const marks = /[*_`#[\]<>|~]|^\s*([-+]|\d+[.)])\s|\n\n/m;

export function RichText({ text }: { text: string }) {
  const Markdown = loaded.value;
  if (Markdown === null && !asked && marks.test(text)) {
    asked = true;
    void import("./markdown.tsx").then((part) => (loaded.value = part.Markdown));
  }
  if (Markdown === null || !marks.test(text)) return <div class="prose raw" dir="auto">{text}</div>;
  return (
    <div class="prose" dir="auto">
      <Markdown text={text} />
    </div>
  );
}

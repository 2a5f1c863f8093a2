// What a run and its sub-agents changed in files.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { RunDiff } from "../api/types.ts";
import { changes } from "../live.ts";
import { shortId } from "../model/words.ts";
import { address } from "../router.ts";
import { Diff } from "../ui/diff.tsx";
import { Failed } from "../ui/parts.tsx";

const words: Record<string, string> = { not_kept: "its content was not kept" };

export function Files({ run }: { run: string }) {
  const diff = useSignal<RunDiff | null>(null);
  const error = useSignal("");
  const grown = changes.value;
  useEffect(() => {
    call("GET /api/v1/runs/{id}/diff", { path: { id: run } }).then(
      (answer) => (diff.value = answer),
      (refusal: Error) => (error.value = refusal.message),
    );
  }, [grown]);
  const shown = diff.value;
  return (
    <main class="page narrow">
      <header class="row">
        <h1>Files of {shortId(run)}</h1>
        <a href={address({ view: "run", run })}>The run</a>
        {shown !== null && <span class="quiet">{shown.files.length} changed, +{shown.added} −{shown.removed}</span>}
      </header>
      <Failed error={error.value} />
      {shown?.files.length === 0 && <p class="empty">This run changed no file.</p>}
      {shown?.files.map((file) => {
        const what = file.status === "modified" ? "" : ` (${words[file.status] ?? file.status})`;
        return <Diff key={file.path} lines={[`${file.path}${what}${file.binary ? ", binary" : ` +${file.added} −${file.removed}`}`, ...file.lines]} />;
      })}
    </main>
  );
}

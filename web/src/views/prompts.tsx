// Prompts with their versions: what changed from one to the next, and the labels that name one.
import { effect, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { PromptRow, PromptVersions } from "../api/types.ts";
import { lineChanges } from "../model/file_change.ts";
import { moment } from "../model/words.ts";
import { address } from "../router.ts";
import { Diff } from "../ui/diff.tsx";
import { Failed } from "../ui/parts.tsx";

function Versions({ id }: { id: string }) {
  const prompt = useSignal<PromptVersions | null>(null);
  const error = useSignal("");
  const first = useSignal("");
  const second = useSignal("");
  const label = useSignal("");
  const read = async () => {
    try {
      const answer = await call("GET /api/v1/prompts/{prompt}", { path: { prompt: id } });
      prompt.value = answer;
      const last = answer.versions.at(-1)!;
      second.value ||= last.version;
      first.value ||= last.parent ?? last.version;
      error.value = "";
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  useEffect(() => void read(), [id]);
  const shown = prompt.value;
  if (shown === null) return <Failed error={error.value} />;
  const textOf = (version: string) => shown.versions.find((each) => each.version === version)?.text ?? "";
  const move = async () => {
    try {
      await call("POST /api/v1/prompts/{prompt}/labels", { path: { prompt: id }, body: { label: label.value.trim(), version: second.value } });
      label.value = "";
      await read();
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  const choose = (name: string, value: typeof first) => (
    <label>
      {name}{" "}
      <select value={value.value} onChange={(event) => (value.value = event.currentTarget.value)}>
        {shown.versions.map((each) => <option key={each.version} value={each.version}>{each.version}</option>)}
      </select>
    </label>
  );
  return (
    <section aria-label={`Prompt ${id}`}>
      <h2>{id}</h2>
      <div class="wide" tabIndex={0} role="region" aria-label="Versions">
        <table>
          <thead><tr><th scope="col">Version</th><th scope="col">Labels</th><th scope="col">By</th><th scope="col">Made</th></tr></thead>
          <tbody>
            {[...shown.versions].reverse().map((each) => (
              <tr key={each.version}>
                <td>{each.version}</td>
                <td>{shown.labels.filter((one) => one.version === each.version).map((one) => <code key={one.label} class="label">{one.label} </code>)}</td>
                <td>{each.created_by}</td>
                <td class="quiet">{moment(each.created_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="filters">{choose("From", first)}{choose("to", second)}</div>
      {first.value === second.value ? <pre tabIndex={0} dir="auto" aria-label="Text">{textOf(second.value)}</pre> : <Diff lines={[`version ${first.value} to ${second.value}`, ...lineChanges(textOf(first.value), textOf(second.value))]} />}
      <form class="filters" onSubmit={(event) => { event.preventDefault(); void move(); }}>
        <label>Label <input value={label.value} onInput={(event) => (label.value = event.currentTarget.value)} placeholder="production" /></label>
        <button disabled={label.value.trim() === ""}>Move to version {second.value}</button>
      </form>
      <Failed error={error.value} />
    </section>
  );
}

export function Prompts({ prompt }: { prompt?: string | undefined }) {
  const all = useSignal<PromptRow[] | null>(null);
  const error = useSignal("");
  useEffect(() => effect(() => {
    call("GET /api/v1/prompts", {}).then(
      (answer) => (all.value = answer.prompts),
      (refusal: Error) => (error.value = refusal.message),
    );
  }), []);
  return (
    <main class="page">
      <h1>Prompts</h1>
      <Failed error={error.value} />
      {all.value?.length === 0 && <p class="empty">There are no prompts. <code>praxis prompts put</code> makes one.</p>}
      {all.value !== null && all.value.length > 0 && (
        <ul class="names" aria-label="Prompts">
          {all.value.map((each) => (
            <li key={each.id}>
              <a href={address({ view: "prompts", prompt: each.id })} aria-current={each.id === prompt ? "page" : undefined}>{each.id}</a>{" "}
              <span class="quiet">{each.version}{each.labels.map((label) => ` · ${label.label} ${label.version}`)}</span>
            </li>
          ))}
        </ul>
      )}
      {prompt !== undefined && <Versions key={prompt} id={prompt} />}
    </main>
  );
}

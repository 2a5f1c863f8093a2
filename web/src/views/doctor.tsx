// Whether the server is set up well: what `praxis doctor` checks, in the environment of the server.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Doctor as Report } from "../api/types.ts";
import { address } from "../router.ts";
import { Failed, Status } from "../ui/parts.tsx";

const tones: Record<string, string> = { ok: "completed", missing: "waiting", failed: "failed" };

export function Doctor() {
  const report = useSignal<Report | null>(null);
  const error = useSignal("");
  const isBusy = useSignal(false);
  const check = (online: boolean) => {
    isBusy.value = true;
    error.value = "";
    call("GET /api/v1/doctor", { query: { online } }).then(
      (answer) => (report.value = answer),
      (refusal: Error) => (error.value = refusal.message),
    ).finally(() => (isBusy.value = false));
  };
  useEffect(() => check(false), []);
  const shown = report.value;
  return (
    <main class="page">
      <header class="row">
        <h1>Doctor</h1>
        <a href={address({ view: "settings" })}>Settings</a>
        <button type="button" disabled={isBusy.value} onClick={() => check(false)}>Check again</button>
        <button type="button" disabled={isBusy.value} onClick={() => check(true)}>Ask the providers too</button>
      </header>
      <Failed error={error.value} />
      {shown !== null && <p role="status">{shown.healthy ? "Nothing failed." : "Something failed."}</p>}
      {shown !== null && (
        <div class="wide" tabIndex={0} role="region" aria-label="Checks">
          <table>
            <thead><tr><th scope="col">Check</th><th scope="col">State</th><th scope="col">What was found</th></tr></thead>
            <tbody>
              {shown.checks.map((each, at) => (
                <tr key={at}>
                  <th scope="row">{each.name}</th>
                  <td><Status status={tones[each.status] ?? each.status} words={each.status} /></td>
                  <td dir="auto">{each.detail}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}

// The settings of the server, and the layer that each comes from.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Settings } from "../api/types.ts";
import { address } from "../router.ts";
import { Failed } from "../ui/parts.tsx";

export function SettingsView() {
  const settings = useSignal<Settings | null>(null);
  const error = useSignal("");
  useEffect(() => {
    call("GET /api/v1/settings", {}).then(
      (answer) => (settings.value = answer),
      (refusal: Error) => (error.value = refusal.message),
    );
  }, []);
  const shown = settings.value;
  return (
    <main class="page">
      <header class="row">
        <h1>Settings</h1>
        <a href={address({ view: "doctor" })}>Doctor: whether they work</a>
      </header>
      <p class="quiet">Later layers win: system, user, profile, project, environment, flag. What counts is in bold.</p>
      <Failed error={error.value} />
      {shown?.warnings.map((warning) => <p key={warning} class="failed">{warning}</p>)}
      {shown !== null && (
        <div class="wide" tabIndex={0} role="region" aria-label="Settings">
          <table>
            <thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
            <tbody>
              {shown.settings.map((setting) => (
                <tr key={setting.key}>
                  <td class="mono">{setting.key}</td>
                  <td>
                    <b>{setting.value}</b>
                    {setting.layers.filter((layer) => layer.origin !== setting.origin).map((layer) => (
                      <p key={layer.layer + layer.origin} class="quiet">{layer.layer}: {layer.value} ({layer.origin})</p>
                    ))}
                  </td>
                  <td class="quiet">{setting.origin}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}

// The page as a file: one run, which is inside of it, without a server.
import { signal } from "@preact/signals";
import { render } from "preact";
import { source } from "./api/client.ts";
import { answersOf, type RunFile } from "./model/run_file.ts";
import { shortId } from "./model/words.ts";
import { go, place } from "./router.ts";
import { RunView } from "./run/run_view.tsx";
import { nextTheme, theme } from "./theme.ts";
import { Help } from "./ui/help.tsx";
import { useKeys } from "./ui/keys.ts";

const showsHelp = signal(false);
const file = JSON.parse(document.getElementById("run")!.textContent!) as RunFile;
source.answer = answersOf(file);
document.title = `Run ${shortId(file.run_id)}`;

function Frame() {
  useKeys("Everywhere", () => [{ key: "?", does: "these keys", run: () => (showsHelp.value = true) }]);
  return (
    <>
      <header class="bar">
        <span class="name">Praxis</span>
        <span class="quiet">A run as a file: nothing in it changes.</span>
        <button type="button" class="plain" onClick={nextTheme} title="Light, dark, or as the system">
          {theme.value === "system" ? "Auto" : theme.value === "light" ? "Light" : "Dark"}
        </button>
        <button type="button" class="plain" onClick={() => (showsHelp.value = true)} aria-label="Keys">?</button>
      </header>
      <RunView run={file.run_id} />
      {showsHelp.value && <Help close={() => (showsHelp.value = false)} />}
    </>
  );
}

if (place.value.view !== "run") go({ view: "run", run: file.run_id }, true);
render(<Frame />, document.getElementById("page")!);

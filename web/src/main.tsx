// The page: its frame, and the view that the address names.
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { beginHistory } from "./api/begin.ts";
import { token, keepToken } from "./api/client.ts";
import { connection } from "./api/stream.ts";
import { followAll, pending } from "./live.ts";
import { address, go, place } from "./router.ts";
import { nextTheme, theme } from "./theme.ts";
import { Help } from "./ui/help.tsx";
import { useKeys } from "./ui/keys.ts";
import { later } from "./ui/load.tsx";
import { Login, useCode } from "./views/login.tsx";
import { Runs } from "./views/runs.tsx";

const RunView = later(() => {
  const at = place.peek();
  if (at.view === "run") beginHistory(at.run);
  return import("./run/run_view.tsx").then((part) => part.RunView);
});
const Inbox = later(() => import("./views/inbox.tsx").then((part) => part.Inbox));
const Compare = later(() => import("./views/compare.tsx").then((part) => part.Compare));
const Branches = later(() => import("./views/branches.tsx").then((part) => part.Branches));
const Files = later(() => import("./views/files.tsx").then((part) => part.Files));
const Playground = later(() => import("./views/playground.tsx").then((part) => part.Playground));
const Doctor = later(() => import("./views/doctor.tsx").then((part) => part.Doctor));
const Agents = later(() => import("./views/agents.tsx").then((part) => part.Agents));
const SettingsView = later(() => import("./views/settings.tsx").then((part) => part.SettingsView));
const Prompts = later(() => import("./views/prompts.tsx").then((part) => part.Prompts));
const Memory = later(() => import("./views/memory.tsx").then((part) => part.Memory));
const UsageView = later(() => import("./views/usage.tsx").then((part) => part.UsageView));

const showsHelp = signal(false);

function Bar() {
  const view = place.value.view;
  const link = (to: "runs" | "inbox" | "agents" | "prompts" | "memory" | "usage" | "settings", name: string, count = 0) => (
    <a href={address({ view: to })} aria-current={view === to ? "page" : undefined}>
      {name}
      {count > 0 && <span class="count">{count}<span class="unseen"> waiting</span></span>}
    </a>
  );
  const words = { live: "live", connecting: "connecting…", lost: "connection lost, trying again…" }[connection.value];
  return (
    <header class="bar">
      <a class="name" href="#/runs">Praxis</a>
      <nav aria-label="Views">
        {link("runs", "Runs")}
        {link("inbox", "Inbox", pending.value.length)}
        {link("agents", "Agents")}
        {link("prompts", "Prompts")}
        {link("memory", "Memory")}
        {link("usage", "Usage")}
        {link("settings", "Settings")}
      </nav>
      <span class={`connection ${connection.value}`} role="status">{words}</span>
      <button type="button" class="plain" onClick={nextTheme} title="Light, dark, or as the system">
        {theme.value === "system" ? "Auto" : theme.value === "light" ? "Light" : "Dark"}
      </button>
      <button type="button" class="plain" onClick={() => (showsHelp.value = true)} aria-label="Keys">?</button>
      <button type="button" class="plain" onClick={() => keepToken("")}>Sign out</button>
    </header>
  );
}

function View() {
  const at = place.value;
  if (at.view === "run") return <RunView key={at.run} run={at.run} />;
  if (at.view === "inbox") return <Inbox />;
  if (at.view === "usage") return <UsageView />;
  if (at.view === "agents") return <Agents agent={at.agent} />;
  if (at.view === "prompts") return <Prompts prompt={at.prompt} />;
  if (at.view === "memory") return <Memory />;
  if (at.view === "settings") return <SettingsView />;
  if (at.view === "branches") return <Branches key={at.run} run={at.run} />;
  if (at.view === "compare") return <Compare key={at.run + at.other} run={at.run} other={at.other} />;
  if (at.view === "files") return <Files key={at.run} run={at.run} />;
  if (at.view === "playground") return <Playground key={`${at.run} ${at.record}`} run={at.run} record={at.record} />;
  if (at.view === "doctor") return <Doctor />;
  return <Runs />;
}

function Frame() {
  useKeys("Everywhere", () => [
    { key: "?", does: "these keys", run: () => (showsHelp.value = true) },
    { key: "g r", does: "runs", run: () => go({ view: "runs" }) },
    { key: "g i", does: "inbox", run: () => go({ view: "inbox" }) },
    { key: "g a", does: "agents", run: () => go({ view: "agents" }) },
    { key: "g p", does: "prompts", run: () => go({ view: "prompts" }) },
    { key: "g m", does: "memory", run: () => go({ view: "memory" }) },
    { key: "g u", does: "usage", run: () => go({ view: "usage" }) },
    { key: "g s", does: "settings", run: () => go({ view: "settings" }) },
    { key: "g d", does: "doctor", run: () => go({ view: "doctor" }) },
  ]);
  return (
    <>
      <Bar />
      <View />
      {showsHelp.value && <Help close={() => (showsHelp.value = false)} />}
    </>
  );
}

function Page() {
  return token.value === "" ? <Login /> : <Frame />;
}

effect(() => {
  const at = place.value;
  if (at.view === "login") void useCode(at.code);
});
followAll();
render(<Page />, document.getElementById("page")!);

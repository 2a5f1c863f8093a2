// The agents that runs can name: what each is made of, the rules that apply to it, and a box to try a call.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { AgentText, PolicyAnswer } from "../api/types.ts";
import { pretty } from "../model/words.ts";
import { address, go } from "../router.ts";
import { Failed, TextArea } from "../ui/parts.tsx";
import { StartForm } from "./start_form.tsx";

function Try({ agent }: { agent: AgentText }) {
  const tool = useSignal(agent.tools[0]?.name ?? "");
  const args = useSignal("{}");
  const answer = useSignal<PolicyAnswer | null>(null);
  const error = useSignal("");
  const ask = async () => {
    error.value = "";
    answer.value = null;
    let given: object;
    try {
      given = JSON.parse(args.value) as object;
    } catch (problem) {
      error.value = "The arguments are not valid JSON: " + (problem as Error).message;
      return;
    }
    try {
      answer.value = await call("POST /api/v1/agents/{agent}/policy", { path: { agent: agent.name }, body: { tool: tool.value, arguments: given } });
    } catch (refusal) {
      error.value = (refusal as Error).message;
    }
  };
  return (
    <form
      class="fields" aria-label="Try a call"
      onSubmit={(event) => {
        event.preventDefault();
        void ask();
      }}
    >
      <label for="try-tool">Tool</label>
      <input id="try-tool" type="text" list="try-tools" value={tool.value} onInput={(event) => (tool.value = event.currentTarget.value)} />
      <datalist id="try-tools">{agent.tools.map((each) => <option key={each.name} value={each.name} />)}</datalist>
      <label for="try-arguments">Arguments, as JSON</label>
      <TextArea id="try-arguments" label="Arguments, as JSON" mono value={args.value} change={(text) => (args.value = text)} submit={() => void ask()} />
      <div class="buttons"><button class="main" disabled={tool.value === ""}>Try it</button><span class="quiet">Nothing runs.</span></div>
      <Failed error={error.value} />
      {answer.value !== null && (
        <div role="status" class={`verdict ${answer.value.permission}`}>
          <p><b>{answer.value.permission}</b>{answer.value.reason === "" ? "" : ": " + answer.value.reason}</p>
          <ul>
            {answer.value.judgements.map((each, at) => (
              <li key={at}>{each.layer}: {each.permission}{each.by === "" ? "" : `, by ${each.by}`}</li>
            ))}
          </ul>
        </div>
      )}
    </form>
  );
}

function Agent({ name }: { name: string }) {
  const agent = useSignal<AgentText | null>(null);
  const error = useSignal("");
  const starts = useSignal(false);
  useEffect(() => {
    agent.value = null;
    error.value = "";
    call("GET /api/v1/agents/{agent}", { path: { agent: name } }).then(
      (answer) => (agent.value = answer),
      (refusal: Error) => (error.value = refusal.message),
    );
  }, [name]);
  const shown = agent.value;
  if (shown === null) return <Failed error={error.value} />;
  return (
    <article class="agent" aria-label={`Agent ${name}`}>
      <header class="row">
        <h2>{name}</h2>
        <button type="button" class="main" onClick={() => (starts.value = true)}>Start a run</button>
      </header>
      {shown.description !== "" && <p dir="auto">{shown.description}</p>}
      <p class="quiet">{shown.model || "no model of its own"}</p>
      {shown.instructions !== "" && <><h3>Instructions</h3><pre tabIndex={0} dir="auto">{shown.instructions}</pre></>}
      <h3>Tools</h3>
      {shown.tools.length === 0 && <p class="quiet">It has no tools of its own.</p>}
      {shown.tools.map((tool) => (
        <details key={tool.name}>
          <summary><code>{tool.name}</code></summary>
          <p dir="auto">{tool.description}</p>
          <pre tabIndex={0}>{pretty(tool.parameters)}</pre>
        </details>
      ))}
      <h3>Limits</h3>
      <pre tabIndex={0}>{pretty(shown.limits)}</pre>
      <h3>Rules that apply</h3>
      {shown.policy.map((layer, at) => (
        <details key={at} open>
          <summary>{layer.layer}</summary>
          <pre tabIndex={0}>{pretty(layer.rules)}</pre>
        </details>
      ))}
      <h3>Try a call</h3>
      <Try agent={shown} />
      {starts.value && <StartForm agents={[name]} close={() => (starts.value = false)} started={(run) => go({ view: "run", run })} />}
    </article>
  );
}

export function Agents({ agent }: { agent: string | undefined }) {
  const names = useSignal<string[] | null>(null);
  const error = useSignal("");
  useEffect(() => {
    call("GET /api/v1/agents", {}).then(
      (answer) => (names.value = answer.agents.map((each) => each.name)),
      (refusal: Error) => (error.value = refusal.message),
    );
  }, []);
  return (
    <main class="page agents">
      <h1>Agents</h1>
      <Failed error={error.value} />
      {names.value?.length === 0 && <p class="empty">There is no agent file. Runs use the default agent.</p>}
      <div class="two">
        <nav aria-label="Agents">
          <ul>
            {(names.value ?? []).map((name) => (
              <li key={name}><a href={address({ view: "agents", agent: name })} aria-current={name === agent ? "page" : undefined}>{name}</a></li>
            ))}
          </ul>
        </nav>
        {agent === undefined ? <p class="quiet pad">Choose an agent to see what it is made of.</p> : <Agent key={agent} name={agent} />}
      </div>
    </main>
  );
}

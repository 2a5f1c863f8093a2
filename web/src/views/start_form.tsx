// The form that starts a run.
import { useSignal } from "@preact/signals";
import { call, Refusal } from "../api/client.ts";
import { Dialog, Failed, TextArea } from "../ui/parts.tsx";

const limitNames = [
  { name: "max_steps", label: "Steps", whole: true },
  { name: "max_tokens", label: "Tokens", whole: true },
  { name: "max_usd", label: "US dollars", whole: false },
] as const;

export function StartForm({ agents, close, started }: { agents: string[]; close: () => void; started: (run: string) => void }) {
  const agent = useSignal(agents[0] ?? "");
  const prompt = useSignal("");
  const limits = useSignal<Record<string, string>>({});
  const error = useSignal("");
  const isBusy = useSignal(false);
  const start = async () => {
    isBusy.value = true;
    error.value = "";
    const given = Object.entries(limits.value).filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)]);
    const body = {
      prompt: prompt.value,
      ...(agent.value === "" ? {} : { agent: agent.value }),
      ...(given.length === 0 ? {} : { limits: Object.fromEntries(given) }),
    };
    try {
      started((await call("POST /api/v1/runs", { body })).id);
    } catch (refusal) {
      const field = (refusal as Refusal).field;
      error.value = (field ? `${field}: ` : "") + (refusal as Error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title="Start a run" close={close}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label for="start-agent">Agent</label>
        <select id="start-agent" value={agent.value} onChange={(event) => (agent.value = event.currentTarget.value)}>
          {agents.map((name) => <option key={name}>{name}</option>)}
        </select>
        <label for="start-prompt">What is it to do?</label>
        <TextArea id="start-prompt" label="What is it to do?" value={prompt.value} change={(text) => (prompt.value = text)} submit={() => void start()} focus />
        <fieldset>
          <legend>Limits (empty: those of the agent)</legend>
          <div class="inline">
            {limitNames.map(({ name, label, whole }) => (
              <label key={name}>
                {label}
                <input
                  type="number" min="0" step={whole ? 1 : "any"} value={limits.value[name] ?? ""}
                  onInput={(event) => (limits.value = { ...limits.value, [name]: event.currentTarget.value })}
                />
              </label>
            ))}
          </div>
        </fieldset>
        <Failed error={error.value} />
        <div class="buttons">
          <button class="main" disabled={isBusy.value || prompt.value.trim() === ""}>Start</button>
        </div>
      </form>
    </Dialog>
  );
}

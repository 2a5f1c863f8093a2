// Asks for the token, or exchanges the code of `praxis serve --open` for it.
import { signal } from "@preact/signals";
import { call, forget, keepToken, token } from "../api/client.ts";
import { Failed } from "../ui/parts.tsx";
import { go } from "../router.ts";

const error = signal("");
const isBusy = signal(false);

/** Uses a code once, and takes it out of the address. */
export async function useCode(code: string): Promise<void> {
  go({ view: "runs" }, true);
  isBusy.value = true;
  try {
    keepToken((await call("POST /api/v1/login", { body: { code } })).token);
  } catch (refusal) {
    if (token.value === "") error.value = (refusal as Error).message;
  }
  isBusy.value = false;
}

async function enter(text: string): Promise<void> {
  error.value = "";
  const given = text.trim();
  keepToken(given);
  try {
    await call("GET /api/v1/agents", {});
  } catch (refusal) {
    forget(given);
    error.value = (refusal as Error).message;
  }
}

export function Login() {
  return (
    <main class="login">
      <h1>Praxis</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void enter(String(new FormData(event.currentTarget).get("token") ?? ""));
        }}
      >
        <label for="token">Token of this server</label>
        <input id="token" name="token" type="password" autocomplete="off" required autofocus />
        <button class="main" disabled={isBusy.value}>
          Open
        </button>
        <Failed error={error.value} />
        <p class="quiet">
          It is in <code>~/.local/state/praxis/server-token</code> unless the server was given another file. This tab forgets it when it is
          closed. <code>praxis serve --open</code> opens the page without asking.
        </p>
      </form>
    </main>
  );
}

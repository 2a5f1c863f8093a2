// The list of keys.
import { groups } from "./keys.ts";
import { Dialog } from "./parts.tsx";

export function Help({ close }: { close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      {groups.value.map((group) => (
        <section key={group.title}>
          <h3>{group.title}</h3>
          <dl class="keys">
            {group.keys.map((key) => (
              <div key={key.key}>
                <dt><kbd>{key.key}</kbd></dt>
                <dd>{key.does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="quiet">Escape leaves a field. Ctrl+Enter sends what is written in one.</p>
    </Dialog>
  );
}

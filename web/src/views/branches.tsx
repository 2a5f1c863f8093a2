// The runs that branched off from each other, as a tree; comparing any two runs; and the replay of one.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Branch, Replay } from "../api/types.ts";
import { changes } from "../live.ts";
import { branchRows } from "../model/branches.ts";
import { cost, moment, shortId, tokens } from "../model/words.ts";
import { address, go } from "../router.ts";
import { Failed, Status } from "../ui/parts.tsx";

function ReplayResult({ run, replay }: { run: string; replay: Replay }) {
  const found = replay.divergence;
  if (found === null) return <p role="status">Identical: {replay.records} records, {replay.derived} of them derived again.</p>;
  return (
    <div role="status">
      <p>
        The first difference is in <a href={address({ view: "run", run, record: found.seq })}>record {found.seq}</a>, in <code>{found.field}</code>:
      </p>
      <dl class="difference">
        <dt>recorded</dt><dd><pre tabIndex={0} dir="auto">{found.expected}</pre></dd>
        <dt>derived now</dt><dd><pre tabIndex={0} dir="auto">{found.found}</pre></dd>
      </dl>
    </div>
  );
}

export function Branches({ run }: { run: string }) {
  const branches = useSignal<Branch[] | null>(null);
  const replay = useSignal<Replay | null>(null);
  const other = useSignal("");
  const error = useSignal("");
  const grown = changes.value;
  useEffect(() => {
    call("GET /api/v1/runs/{id}/branches", { path: { id: run } }).then(
      (answer) => (branches.value = answer.branches),
      (refusal: Error) => (error.value = refusal.message),
    );
  }, [run, grown]);
  const check = () =>
    call("POST /api/v1/runs/{id}/replay", { path: { id: run } }).then(
      (answer) => (replay.value = answer),
      (refusal: Error) => (error.value = refusal.message),
    );
  return (
    <main class="page narrow">
      <header class="row">
        <h1>Branches of {shortId(run)}</h1>
        <a href={address({ view: "run", run })}>The run</a>
      </header>
      <Failed error={error.value} />
      <ul class="branches" aria-label="Branches">
        {branchRows(branches.value ?? []).map(({ branch, depth }) => (
          <li key={branch.id} style={{ paddingInlineStart: `${Math.min(depth, 10) * 1.4}rem` }} aria-current={branch.id === run ? "true" : undefined}>
            <a href={address({ view: "run", run: branch.id })}>{shortId(branch.id)}</a>
            <span class="quiet">{branch.from === null ? "the beginning" : `from record ${branch.at}`}</span>
            <Status status={branch.status} />
            <span class="quiet" title={branch.model}>{branch.model.replace(/^.*\//, "")}</span>
            <span class="quiet">{branch.records} records · {tokens(branch.tokens)} tokens · {cost(branch.cost_usd)} · {moment(branch.created_at)}</span>
            {branch.id !== run && <a class="compare-link" href={address({ view: "compare", run, other: branch.id })}>Compare</a>}
          </li>
        ))}
      </ul>
      <h2>Compare with any run</h2>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (other.value.trim() !== "") go({ view: "compare", run, other: other.value.trim() });
        }}
      >
        <input type="search" aria-label="Id of the other run" placeholder="Id of the other run, or a part of it" value={other.value} onInput={(event) => (other.value = event.currentTarget.value)} />
        <button disabled={other.value.trim() === ""}>Compare</button>
      </form>
      <h2>Replay</h2>
      <p class="quiet">Derives every conclusion of the run from its log again, without a model, and compares.</p>
      <p><button type="button" onClick={() => void check()}>Replay this run</button></p>
      {replay.value !== null && <ReplayResult run={run} replay={replay.value} />}
    </main>
  );
}

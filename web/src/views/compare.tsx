// Two runs side by side: how each stands, the first record that differs, and their steps in rows.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { call } from "../api/client.ts";
import type { Comparison, Standing, Transcript } from "../api/types.ts";
import { changes } from "../live.ts";
import { align, type Pair, type Piece, pieces, stepsOf } from "../model/align.ts";
import { cost, duration, shortId, tokens } from "../model/words.ts";
import { address } from "../router.ts";
import { Failed, Status } from "../ui/parts.tsx";

interface Both {
  comparison: Comparison;
  first: Transcript;
  second: Transcript;
}

/** The whole conversation of a run, which comes page by page. */
async function transcriptOf(run: string): Promise<Transcript> {
  const items: object[] = [];
  for (let from = 1; ; ) {
    const page = await call("GET /api/v1/runs/{id}/messages", { path: { id: run }, query: { from, limit: 5000 } });
    items.push(...page.items);
    if (page.next === null) return { ...page, items };
    from = page.next;
  }
}

async function read(run: string, other: string): Promise<Both> {
  const [comparison, first, second] = await Promise.all([
    call("GET /api/v1/runs/{id}/compare/{other}", { path: { id: run, other } }),
    transcriptOf(run),
    transcriptOf(other),
  ]);
  return { comparison, first, second };
}

/** From the first thing to the last, with waits. */
function took(transcript: Transcript): number {
  const times = transcript.items.map((item) => Date.parse(String((item as { time?: string }).time ?? ""))).filter((time) => !Number.isNaN(time));
  return times.length < 2 ? 0 : times.at(-1)! - times[0]!;
}

const most = 5000;

function Words({ parts, side }: { parts: Piece[]; side: "first" | "second" }) {
  const own = parts.filter((part) => part.in === "both" || part.in === side);
  return <>{own.map((part, at) => (part.in === "both" ? <span key={at}>{part.text}</span> : <mark key={at}>{part.text}</mark>))}</>;
}

const words = { same: "", changed: "differs", first: "only here", second: "only here" };

function Row({ pair }: { pair: Pair }) {
  const { first, second } = pair;
  const parts = pair.kind === "changed" ? pieces((first?.text ?? "").slice(0, most), (second?.text ?? "").slice(0, most)) : undefined;
  const cell = (step: Pair["first"], side: "first" | "second", isFirst: boolean) =>
    step === undefined ? <td class="missing">–</td> : (
      <td>
        <p class="step-name">
          <b>{step.kind}</b> <code>{step.name}</code>
          {step.ms !== undefined && <span class="quiet"> {duration(step.ms)}</span>}
          {(pair.kind === side || (pair.kind === "changed" && !isFirst)) && <span class="differs"> {words[pair.kind]}</span>}
        </p>
        <div class="step-text" dir="auto">{parts === undefined ? step.text.slice(0, most) : <Words parts={parts} side={side} />}</div>
      </td>
    );
  return <tr class={pair.kind}>{cell(first, "first", true)}{cell(second, "second", false)}</tr>;
}

function Standings({ both, run, other }: { both: Both; run: string; other: string }) {
  const { first, second } = both.comparison;
  const line = (name: string, of: (standing: Standing) => string | number) => {
    const [a, b] = [of(first), of(second)];
    return <tr key={name} class={a === b ? "" : "changed"}><th scope="row">{name}</th><td>{a}</td><td>{b}</td></tr>;
  };
  const [a, b] = [took(both.first), took(both.second)];
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="How each run stands">
      <table class="standings">
        <thead>
          <tr>
            <th scope="col">Run</th>
            {[run, other].map((id) => <th key={id} scope="col"><a href={address({ view: "run", run: id })}>{shortId(id)}</a></th>)}
          </tr>
        </thead>
        <tbody>
          <tr><th scope="row">Status</th><td><Status status={first.status} /></td><td><Status status={second.status} /></td></tr>
          {line("Model", (each) => each.model)}
          {line("Records", (each) => each.records)}
          {line("Turns", (each) => each.turns)}
          {line("Tool calls", (each) => each.tool_calls)}
          {line("Tokens", (each) => tokens(each.tokens))}
          {line("Cost", (each) => cost(each.cost_usd))}
          <tr class={a === b ? "" : "changed"}><th scope="row">Time</th><td>{duration(a)}</td><td>{duration(b)}</td></tr>
        </tbody>
      </table>
    </div>
  );
}

function FirstDifference({ both, run, other }: { both: Both; run: string; other: string }) {
  const { difference, common_records: common } = both.comparison;
  if (difference === null) return <p>Both say the same in all {common} records.</p>;
  const link = (id: string) => <a href={address({ view: "run", run: id, record: difference.seq })}>{shortId(id)}</a>;
  return (
    <section aria-label="First difference">
      <p>The same up to record {common}. Record {difference.seq} differs in <code>{difference.field}</code>:</p>
      <dl class="difference">
        <dt>{link(run)}</dt><dd><pre tabIndex={0} dir="auto">{difference.first.slice(0, most)}</pre></dd>
        <dt>{link(other)}</dt><dd><pre tabIndex={0} dir="auto">{difference.second.slice(0, most)}</pre></dd>
      </dl>
    </section>
  );
}

export function Compare({ run, other }: { run: string; other: string }) {
  const both = useSignal<Both | null>(null);
  const error = useSignal("");
  const onlyDifferences = useSignal(false);
  const grown = changes.value;
  useEffect(() => {
    let isOld = false;
    read(run, other).then(
      (found) => {
        if (isOld) return;
        both.value = found;
        error.value = "";
      },
      (refusal: Error) => (error.value = refusal.message),
    );
    return () => {
      isOld = true;
    };
  }, [run, other, grown]);
  const found = both.value;
  const pairs = found === null ? [] : align(stepsOf(found.first.items), stepsOf(found.second.items));
  const shown = onlyDifferences.value ? pairs.filter((pair) => pair.kind !== "same") : pairs;
  return (
    <main class="page compare">
      <header class="row">
        <h1>Two runs</h1>
        <a href={address({ view: "branches", run })}>Branches</a>
      </header>
      <Failed error={error.value} />
      {found !== null && (
        <>
          <Standings both={found} run={run} other={other} />
          <FirstDifference both={found} run={run} other={other} />
          <label class="check">
            <input type="checkbox" checked={onlyDifferences.value} onChange={(event) => (onlyDifferences.value = event.currentTarget.checked)} /> Only what differs
          </label>
          <div class="wide" tabIndex={0} role="region" aria-label="Steps">
            <table class="steps">
              <thead><tr>{[run, other].map((id) => <th key={id} scope="col">{shortId(id)}</th>)}</tr></thead>
              <tbody>{shown.slice(0, 2000).map((pair, at) => <Row key={at} pair={pair} />)}</tbody>
            </table>
          </div>
        </>
      )}
    </main>
  );
}

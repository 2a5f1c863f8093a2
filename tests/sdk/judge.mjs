// Lets the official clients read recorded answers and reports where their results differ from ours.
//
//   node judge.mjs LINES CASES      LINES: the output of `wire_check CASES`; CASES: a folder of cases
//
// A server on this machine replays each answer byte for byte; the client of its protocol reads it, streamed or whole,
// over HTTP. Text, tool calls, refusal and finish are compared. Exits with 1 if they differ and known.json does not
// give a reason. Answers that we can read and a client cannot are only counted.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { readers } from './readers.mjs';

const [linesFile, casesFolder] = process.argv.slice(2);
const jsonLines = (file) => fs.readFileSync(file, 'utf8').split('\n').filter((l) => l.trim()).map((l) => JSON.parse(l));
const known = JSON.parse(fs.readFileSync(new URL('./known.json', import.meta.url), 'utf8'));

/** Answers every request with the response that is set. */
async function startServer() {
  const state = { response: null };
  const server = http.createServer((request, reply) => {
    request.resume();
    const headers = Object.fromEntries(Object.entries(state.response.headers).filter(([name]) => name !== 'set-cookie'));
    reply.writeHead(state.response.status, headers);
    reply.end(state.response.body);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  state.url = `http://127.0.0.1:${server.address().port}`;
  state.close = () => server.close();
  return state;
}

const sorted = (value) =>
  value && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : Array.isArray(value) ? value.map(sorted) : value;
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** Thrown by a client on an answer that we could read. */
class GaveUp extends Error {}

/** The fields in which what a client saw is not what we saw. */
function differences(line, seen) {
  const calls = (list) => list.map(({ name, arguments: input }) => ({ name, arguments: input ?? {} }));
  const ours = { text: line.text, tool_calls: calls(line.tool_calls), refusal: line.refusal, finish_raw: line.finish_raw };
  const theirs = { text: seen.text ?? '', tool_calls: calls(seen.tool_calls), refusal: seen.refusal || null,
    finish_raw: seen.finish_raw ?? null };
  return Object.keys(ours).filter((key) => !same(ours[key], theirs[key]))
    .map((key) => `${key}: ours ${JSON.stringify(ours[key])}, theirs ${JSON.stringify(theirs[key])}`);
}

async function judge(server, line, exchange) {
  server.response = exchange.response;
  try {
    const seen = await readers[line.api](server.url, line.stream);
    if (line.error) return [`we read an error, they an answer: ${JSON.stringify(line.error)}`];
    return differences(line, seen);
  } catch (error) {
    const failed = line.error || line.extra?.broken_off;
    if (!failed) throw new GaveUp(String(error?.message ?? error));
    return [];
  }
}

const server = await startServer();
const exchanges = new Map();
const counts = { agrees: 0, known: 0, differs: 0, gaveUp: 0, skipped: 0 };
for (const line of jsonLines(linesFile)) {
  if (!readers[line.api]) {
    counts.skipped += 1;
    continue;
  }
  const folder = path.join(casesFolder, line.case);
  if (!exchanges.has(folder)) exchanges.set(folder, jsonLines(path.join(folder, 'exchanges.jsonl')));
  const exchange = exchanges.get(folder).find((one) => one.i === line.i);
  let found;
  try {
    found = await judge(server, line, exchange);
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error;
    counts.gaveUp += 1;
    continue;
  }
  const reason = known[`${line.case}#${line.i}`];
  const outcome = found.length === 0 ? 'agrees' : reason ? 'known' : 'differs';
  counts[outcome] += 1;
  if (outcome === 'differs') console.log(`${line.case}#${line.i} (${line.api})\n  ${found.join('\n  ')}`);
}
server.close();
console.log(`official clients: ${counts.agrees} answers read alike, ${counts.known} differ for known reasons, ` +
  `${counts.differs} differ, ${counts.gaveUp} are beyond them, ${counts.skipped} have no official client`);
process.exit(counts.differs > 0 ? 1 : 0);

// Starts a run on a Praxis server and prints its answer as it is written. Needs Node.js 18 or later, no packages.
// Usage: PRAXIS_TOKEN=... node client.mjs URL AGENT PROMPT
const [url, agent, prompt] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${process.env.PRAXIS_TOKEN}`, "Content-Type": "application/json" };

const made = await fetch(`${url}/api/v1/runs`, { method: "POST", headers, body: JSON.stringify({ agent, prompt }) });
const answer = await made.json();
if (!made.ok) throw new Error(answer.detail);

const stream = await fetch(`${url}/api/v1/runs/${answer.id}/events`, { headers });
let rest = "";
for await (const bytes of stream.body.pipeThrough(new TextDecoderStream())) {
  const events = (rest + bytes).split("\n\n");
  rest = events.pop();
  for (const text of events) {
    const fields = Object.fromEntries(text.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]));
    if (fields.event === "assistant.text") console.log(JSON.parse(fields.data).text);
    if (/^turn\.(completed|failed|cancelled|timed_out)$/.test(fields.event)) process.exit(fields.event === "turn.completed" ? 0 : 1);
  }
}

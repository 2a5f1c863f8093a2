// The spans of several processes, read by the protobuf definitions that OpenTelemetry publishes for JavaScript, are one tree.
// Usage: node joined.mjs FILE...; the first file has the root.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const root = require("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const { ExportTraceServiceRequest } = root.opentelemetry.proto.collector.trace.v1;
const files = process.argv.slice(2).map((file) =>
  JSON.parse(readFileSync(file, "utf8")).resourceSpans[0].scopeSpans[0].spans);
for (const file of process.argv.slice(2))
  assert.equal(ExportTraceServiceRequest.verify(ExportTraceServiceRequest.fromObject(JSON.parse(readFileSync(file, "utf8")))), null);

const spans = files.flat();
const ids = new Map(spans.map((span) => [span.spanId, span]));
assert.equal(ids.size, spans.length);
assert.equal(new Set(spans.map((span) => span.traceId)).size, 1, "one trace");
assert.deepEqual(spans.filter((span) => span.parentSpanId === undefined).map((span) => span.name), ["invoke_agent near"]);
for (const [index, own] of files.entries()) {
  const inFile = new Set(own.map((span) => span.spanId));
  const roots = own.filter((span) => span.parentSpanId !== undefined && !inFile.has(span.parentSpanId));
  assert.equal(roots.length, index === 0 ? 0 : 1);
  for (const span of roots) assert.match(ids.get(span.parentSpanId).name, /^execute_tool (other__send|own__chat)$/);
}
for (const span of spans.filter((each) => each.parentSpanId)) {
  const parent = ids.get(span.parentSpanId);
  assert.ok(parent && BigInt(parent.startTimeUnixNano) <= BigInt(span.startTimeUnixNano), span.name);
  // `other__send` begins a task, which may end later.
  if (parent.name !== "execute_tool other__send") assert.ok(BigInt(parent.endTimeUnixNano) >= BigInt(span.endTimeUnixNano), span.name);
}
console.log(`@opentelemetry/otlp-transformer: ${spans.length} spans of ${files.length} processes are one trace with the right parents`);

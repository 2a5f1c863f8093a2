// The trace of a run, read by the protobuf definitions that OpenTelemetry publishes for JavaScript.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const root = require("@opentelemetry/otlp-transformer/build/src/generated/root.js");
const { trace, metrics } = root.opentelemetry.proto.collector;
const [traceJson, traceBytes, metricsJson, metricsBytes] = process.argv.slice(2);

/** The fields that are set, with 64-bit integers as strings and bytes in hexadecimal, as OTLP has them in JSON. */
const plain = (type, message) => {
  const object = type.toObject(message, { longs: String, bytes: Array });
  const hex = (value) => {
    if (Array.isArray(value)) return value.map(hex);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) =>
      [key, /Id$/.test(key) ? Buffer.from(each).toString("hex") : hex(each)]));
  };
  return hex(object);
};
const same = (type, jsonFile, bytesFile) => {
  const read = plain(type, type.decode(readFileSync(bytesFile)));
  assert.deepEqual(read, JSON.parse(readFileSync(jsonFile, "utf8")));
  return read;
};

const spans = same(trace.v1.ExportTraceServiceRequest, traceJson, traceBytes).resourceSpans[0].scopeSpans[0].spans;
assert.equal(new Set(spans.map((span) => span.traceId)).size, 1);
const ids = new Map(spans.map((span) => [span.spanId, span]));
assert.equal(ids.size, spans.length);
assert.equal(spans.filter((span) => span.parentSpanId === undefined).length, 1);
for (const span of spans.filter((each) => each.parentSpanId)) {
  const parent = ids.get(span.parentSpanId);
  assert.ok(parent && BigInt(parent.startTimeUnixNano) <= BigInt(span.startTimeUnixNano));
  assert.ok(BigInt(parent.endTimeUnixNano) >= BigInt(span.endTimeUnixNano));
}
const names = same(metrics.v1.ExportMetricsServiceRequest, metricsJson, metricsBytes).resourceMetrics[0].scopeMetrics[0].metrics;
assert.deepEqual(names.map((metric) => metric.name), ["gen_ai.client.token.usage", "gen_ai.client.operation.duration"]);
console.log(`@opentelemetry/otlp-transformer: ${spans.length} spans of one trace and their metrics, the same in both forms`);

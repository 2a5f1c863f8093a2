// Trace context in the sense of W3C Trace Context: one trace for an agent tree, one span for each session and
// each effect. All ids derive from values that the Environment supplied and that are recorded, so a replay
// finds the same ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace praxis {

/// 128 bits; all zero: no trace.
struct TraceId {
  std::uint64_t high = 0, low = 0;
  bool operator==(const TraceId&) const = default;
  bool empty() const { return high == 0 && low == 0; }
};
/// 64 bits; zero: no span.
using SpanId = std::uint64_t;

/// A position in a trace.
struct TraceContext {
  TraceId trace;
  SpanId span = 0;
  SpanId parent = 0;       ///< the span that caused this one; zero for the first of a trace
  std::string state = {};  ///< `tracestate` of the caller, which the whole trace hands on; empty: none
  bool operator==(const TraceContext&) const = default;
};

/// 32 and 16 lower-case hexadecimal digits.
std::string to_hex(const TraceId& id);
std::string span_hex(SpanId span);
/// `std::nullopt` unless all characters are hexadecimal digits, and as many as needed.
std::optional<TraceId> trace_id_from(std::string_view hex);
std::optional<SpanId> span_id_from(std::string_view hex);
/// The header `traceparent`: `00-<trace>-<span>-01`.
std::string traceparent(const TraceContext& context);
/// Reads `traceparent` as W3C Trace Context (level 1) says: trace and span of the caller, with as much of its
/// `tracestate` as is handed on. `std::nullopt`: `traceparent` is not valid, and the receiver starts a trace
/// of its own.
std::optional<TraceContext> trace_from_header(std::string_view traceparent, std::string_view tracestate = {});

/// The first context of a new trace, from two random values.
TraceContext new_trace(std::uint64_t random, std::uint64_t more_random);
/// A span within the one of `above`, the same for the same `name` and `number`.
TraceContext span_below(const TraceContext& above, std::string_view name, std::uint64_t number);

}  // namespace praxis
#pragma GCC visibility pop

// The trace context of a session in the JSON form of its first record.
#pragma once

#include "domain/json_forms.hpp"
#include "domain/trace_state.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/json/json.hpp"

namespace praxis {

inline void put_trace(JsonFields& out, const TraceContext& context) {
  if (context.trace.empty()) return;
  out.text("trace", to_hex(context.trace));
  out.text("span", span_hex(context.span));
  if (context.parent != 0) out.text("parent_span", span_hex(context.parent));
  out.text_if_any("trace_state", context.state);
}

/// What is not valid is left out: an imported log may hold anything, and the state goes into headers.
inline TraceContext trace_of(const Json& json) {
  return {trace_id_from(json_text(json, "trace")).value_or(TraceId{}),
          span_id_from(json_text(json, "span")).value_or(0),
          span_id_from(json_text(json, "parent_span")).value_or(0),
          trace_state_from(json_text(json, "trace_state"))};
}

}  // namespace praxis

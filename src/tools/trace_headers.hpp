// The headers of W3C Trace Context in requests that tools send.
#pragma once

#include "praxis/domain/trace.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Adds the span of the call, unless the request names one: a request with two is invalid.
inline void add_trace(HttpHeaders& headers, const TraceContext& span) {
  if (span.trace.empty() || find_header(headers, "traceparent")) return;
  headers.emplace_back("traceparent", traceparent(span));
  if (!span.state.empty() && !find_header(headers, "tracestate"))
    headers.emplace_back("tracestate", span.state);
}

}  // namespace praxis

#include "cli/span_of_caller.hpp"

#include "app/own_folder.hpp"

namespace praxis::cli {

TraceContext span_of_caller() {
  return trace_from_header(app::environment_variable("TRACEPARENT"), app::environment_variable("TRACESTATE"))
      .value_or(TraceContext{});
}

}  // namespace praxis::cli

// The span of the program that started this one.
#pragma once

#include "praxis/domain/trace.hpp"

namespace praxis::cli {

/// Reads the variable `TRACEPARENT`, which programs of OpenTelemetry and the tool `shell` set for what they
/// start. Empty if it is missing or not valid.
TraceContext span_of_caller();

}  // namespace praxis::cli

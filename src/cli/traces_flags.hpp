// The arguments of `traces` on the command line. Included by the one file that uses CLI11.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/options.hpp"
#include "cli/shared_options.hpp"

namespace praxis::cli {

inline constexpr const char* kTracesHelp =
    "Send the trace of a run to an OpenTelemetry collector, or write it";
inline constexpr const char* kTracesExamples =
    "  praxis traces export last --endpoint http://localhost:4318\n"
    "  praxis traces export 01K9X -o trace.json\n"
    "  praxis traces export last -o - --content\n"
    "  praxis traces export last -o metrics.json --metrics";

inline void add_traces_flags(CLI::App* traces, TracesOptions& options) {
  traces
      ->add_option("VERB", options.words,
                   "export RUN: the spans of a run and of its sub-agents, made from its journal")
      ->type_name("");
  traces
      ->add_option("--endpoint", options.endpoint,
                   "Base URL of the collector, which gets /v1/traces and /v1/metrics; default: "
                   "telemetry.endpoint of the configuration, or OTEL_EXPORTER_OTLP_ENDPOINT")
      ->type_name("URL");
  takes_path(
      traces->add_option("-o,--output", options.file,
                         "Write the spans to this file instead of sending them; '-': to standard output"),
      "FILE");
  traces
      ->add_option("--format", options.format,
                   "'json' or 'protobuf'; default: as configured for a collector, JSON in a file")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "protobuf"}).description(""));
  traces
      ->add_option("--names", options.names,
                   "Names of the attributes: 'genai-1.38' (the default), 'genai-1.36', 'openinference'")
      ->type_name("NAMES")
      ->check(CLI::IsMember({"genai-1.36", "genai-1.38", "openinference"}).description(""));
  traces->add_flag("--metrics", options.metrics, "With -o: write the metrics instead of the spans");
  traces->add_flag("--content", options.content,
                   "Also messages, arguments and results, without secrets and personal data");
  add_json(traces, options.json, kEnvelope);
  add_place(traces, options.place);
}

}  // namespace praxis::cli

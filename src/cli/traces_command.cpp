// `traces`: the spans of runs, sent to a collector or written.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"
#include "telemetry/collector.hpp"

namespace praxis::cli {
namespace {

constexpr const char* kTracesExample = "praxis traces export last -o trace.json";
constexpr std::size_t kMostSpansInFile = 1'000'000;

/// The settings of the configuration with those of the command over them.
Result<telemetry::CollectorSettings> settings_of(const TracesOptions& options,
                                                 const app::Workspace& workspace) {
  const auto setting = [&](const std::string& key) -> std::string {
    if (key == "endpoint" && !options.endpoint.empty()) return options.endpoint;
    if (key == "names" && !options.names.empty()) return options.names;
    if (key == "content" && options.content) return "true";
    if (key == "protocol" && !options.format.empty()) return "http/" + options.format;
    if (key == "protocol" && !options.file.empty()) return "http/json";
    if (key == "content" && !options.file.empty()) return {};  // a file has content only if asked for here
    return workspace.config.get("telemetry." + key);
  };
  return telemetry::collector_settings(setting, app::environment_variable, PRAXIS_VERSION);
}

/// Writes the spans as one request, or their metrics.
Status write_spans(const TracesOptions& options, const telemetry::CollectorSettings& settings,
                   const std::vector<telemetry::Span>& spans, Console& console) {
  telemetry::Metrics metrics;
  metrics.add(spans);
  const Json request = options.metrics
                           ? metrics.request(settings.resource, settings.convention)
                           : telemetry::trace_request(spans, settings.resource, settings.convention);
  const auto message = options.metrics ? telemetry::OtlpMessage::kMetrics : telemetry::OtlpMessage::kTraces;
  const bool is_json = settings.protocol == telemetry::Protocol::kJson;
  const std::string bytes = is_json ? to_json_text(request) + '\n' : telemetry::to_protobuf(request, message);
  if (options.file != "-") return write_file(options.file, bytes);
  console.out.write(bytes);
  return {};
}

}  // namespace

Result<ExitStatus> execute(const TracesOptions& options, Console& console) {
  if (options.words.size() != 2 || options.words.front() != "export")
    return fail(app::usage_error("say what to do: export and a run", kTracesExample));
  const std::string file = options.file.empty() || options.file == "-"
                               ? options.file
                               : std::filesystem::absolute(options.file).string();
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  TracesOptions here = options;
  here.file = file;
  auto settings = settings_of(here, *workspace);
  if (!settings) return fail(settings.error());
  if (file.empty() && settings->endpoint.empty())
    return fail(app::usage_error("there is no collector; give --endpoint URL, or -o FILE", kTracesExample));
  auto journal = app::open_journal(*workspace, app::JournalUse::kLook);
  if (!journal) return fail(journal.error());
  const auto run = find_session(**journal, options.words[1]);
  if (!run) return fail(run.error());

  telemetry::SpanQuestion question{.content = settings->content};
  if (question.content) question.redact = telemetry::make_redaction();
  question.redactions = app::Redactions(*workspace);
  telemetry::Collector collector(*settings);
  telemetry::Metrics metrics;
  std::vector<telemetry::Span> all;
  std::size_t count = 0;
  std::string trace;
  const auto complete =
      telemetry::tree_spans(**journal, *run, question, [&](std::vector<telemetry::Span> spans) -> Status {
        if (trace.empty()) trace = to_hex(spans.front().context.trace);
        count += spans.size();
        if (file.empty()) {
          metrics.add(spans);
          return collector.send(spans);
        }
        if (count > kMostSpansInFile)
          return fail(ErrorCode::kLimit, fmt::format("a file has at most {} spans", kMostSpansInFile));
        std::ranges::move(spans, std::back_inserter(all));
        return {};
      });
  if (!complete) return fail(complete.error());
  const Status done = file.empty() ? collector.send(metrics) : write_spans(here, *settings, all, console);
  if (!done) return fail(done.error());
  console.result({{"run_id", run->str()}, {"trace_id", trace}, {"spans", count}, {"complete", *complete}});
  if (!options.json && file != "-")
    console.err.line(fmt::format("{} {} spans of trace {}", file.empty() ? "sent" : "wrote", count, trace));
  if (!*complete)
    console.err.line("praxis: warning: a turn has not ended; its spans end with its last record");
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli

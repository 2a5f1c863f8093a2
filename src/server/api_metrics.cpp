// Numbers for operators, in the text format of Prometheus, version 0.0.4.
#include <fmt/format.h>

#include "journal/journal_meter.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

class MetricsText {
 public:
  void head(const char* name, const char* type, const char* help) {
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  void line(const std::string& name, double value) { text_ += fmt::format("{} {}\n", name, value); }
  void line(const std::string& name, std::uint64_t value) { text_ += fmt::format("{} {}\n", name, value); }
  void gauge(const char* name, const char* help, std::uint64_t value) {
    head(name, "gauge", help);
    line(name, value);
  }
  void counter(const char* name, const char* help, std::uint64_t value) {
    head(name, "counter", help);
    line(name, value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_runs(const Service& service, MetricsText& text) {
  const RuntimeHealth health = service.runtime->health();
  text.counter("praxis_runs_created_total", "Runs created through the server.",
               service.counters.runs_created);
  text.gauge("praxis_sessions_active", "Sessions in memory, with sub-agents.", health.sessions);
  text.gauge("praxis_sessions_running", "Sessions with a turn that works.", health.running);
  text.gauge("praxis_sessions_waiting", "Sessions with a turn that waits for an approver.", health.waiting);
  text.gauge("praxis_runs_queued", "Runs that begin when fewer turns are at work.", service.runs->queued());
  text.gauge("praxis_observers", "Open event streams.", service.feed->observers());
  const char* const answers = "praxis_http_answers_total";
  text.head(answers, "counter", "Answers by class of status.");
  for (std::size_t i = 1; i < service.counters.answers.size(); ++i)
    text.line(fmt::format("{}{{class=\"{}xx\"}}", answers, i), service.counters.answers.at(i).load());
}

void add_journal(const JournalFigures& figures, MetricsText& text) {
  text.gauge("praxis_journal_leases", "Sessions that this server owns.", figures.leases);
  text.counter("praxis_journal_takeovers_total", "Sessions taken from a process that had not released them.",
               figures.takeovers);
  text.gauge("praxis_journal_appends_waiting", "Appends that are not durable yet.", figures.waiting);
  text.counter("praxis_journal_appends_failed_total", "Appends that failed.", figures.failed);
  const std::string seconds = "praxis_journal_append_seconds";
  text.head(seconds.c_str(), "histogram", "Time until an append is durable.");
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < figures.durable.size(); ++i) {
    count += figures.durable.at(i);
    const bool has_bound = i < JournalFigures::kBounds.size();
    const auto bound =
        has_bound ? fmt::format("{}", std::chrono::duration<double>(JournalFigures::kBounds.at(i)).count())
                  : "+Inf";
    text.line(fmt::format("{}_bucket{{le=\"{}\"}}", seconds, bound), count);
  }
  text.line(seconds + "_sum", std::chrono::duration<double>(figures.time).count());
  text.line(seconds + "_count", count);
}

void add_relay(const RelayCounts& counts, MetricsText& text) {
  text.counter("praxis_relay_sent_total", "Messages with deltas to other servers.", counts.sent);
  text.counter("praxis_relay_received_total", "Messages with deltas from other servers.", counts.received);
  text.counter("praxis_relay_gaps_total", "Answers asked for again because deltas were lost.", counts.gaps);
}

void add_engine(const restate::EngineCounts& counts, MetricsText& text) {
  text.counter("praxis_engine_invocations_begun_total", "Invocations whose first request came here.",
               counts.begun);
  text.counter("praxis_engine_invocations_ended_total", "Invocations that ended here.", counts.ended);
  text.counter("praxis_engine_suspensions_total", "Waits of invocations that hold no connection.",
               counts.suspended);
  text.counter("praxis_engine_answers_held_back_total", "Malformed answers that the guard kept from Restate.",
               counts.held_back);
  const std::string refused = "praxis_engine_requests_refused_total";
  text.head(refused.c_str(), "counter", "Requests to the engine's address that Restate did not make.");
  text.line(refused + "{reason=\"token\"}", counts.wrong_tokens.load());
  text.line(refused + "{reason=\"signature\"}", counts.unknown_senders.load());
  text.counter("praxis_engine_log_bytes_total", "Bytes of records that Restate took.", counts.log_bytes);
  text.gauge("praxis_engine_largest_log_bytes", "Largest log of one invocation so far.", counts.largest_log);
}

}  // namespace

Result<HttpAnswer> show_metrics(Service& service, const Call& call) {
  if (!call.principal.sees_all)
    return problem(403, make_error(ErrorCode::kPolicy, "this token sees no metrics"));
  MetricsText text;
  add_runs(service, text);
  if (const auto* journal = dynamic_cast<const MeasuredJournal*>(service.journal.get()))
    add_journal(journal->figures(), text);
  if (service.engine) add_engine(*service.engine, text);
  if (service.relayed) add_relay(*service.relayed, text);
  return HttpAnswer{200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, text.take()};
}

}  // namespace praxis::server

// Makes spans of the records of one session, record by record.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "praxis/core/state.hpp"
#include "telemetry/span.hpp"

namespace praxis::telemetry {

/// Use: `add` each record of the log in order, then `finish`.
class SessionFold {
 public:
  SessionFold(const SpanQuestion& question, const TraceContext* above) : question_(question), above_(above) {}

  /// Error `kJournal`: the record does not follow from those before it (only with content).
  Status add(const StoredRecord& stored);
  SessionSpans finish();

 private:
  /// An effect that was intended and has not ended.
  struct OpenEffect {
    std::size_t span = 0;  ///< index into `spans_`
    EffectKind kind = EffectKind::kModel;
    CallId call = {};
  };

  template <class Body>
  void fold(const Body& /*body*/) {}
  void fold(const records::SessionCreated& body);
  void fold(const records::TurnStarted& body);
  void fold(const records::TurnSettled& body);
  void fold(const records::MessageAppended& body);
  void fold(const records::EffectIntended& body);
  void fold(const records::EffectSettled& body);
  void fold(const records::Parked& body);
  void fold(const records::Decided& body);
  void fold(const records::CallProposed& body);
  void fold(const records::ChildSpawned& body);
  void fold(const records::StatusChanged& body);
  void fold(const records::Compacted& body);
  void fold(const records::Intervened& body);

  bool is_wanted() const;
  Span& turn() { return spans_[*turn_]; }
  std::size_t open_span(Operation operation, const TraceContext& context, std::string subject);
  void intend_model(const records::EffectIntended& body);
  void intend_tool(const records::EffectIntended& body);
  void add_request(Span& span, const records::EffectIntended& body);
  void settle_model(Span& span, const records::EffectSettled& body);
  void settle_tool(Span& span, const records::EffectSettled& body);
  void close_open(UnixMillis time, const std::string& error);
  void add_usage(Span& span, const Usage& usage);

  const SpanQuestion& question_;
  const TraceContext* above_;
  std::vector<Span> spans_;
  std::vector<SpannedChild> children_;
  std::optional<State> state_;  ///< with content only

  // The session.
  AgentSpecPtr agent_;
  TraceContext trace_;
  SessionId session_;
  std::uint32_t depth_ = 0;
  std::uint64_t forked_at_ = 0;  ///< the last record of another session
  std::uint32_t turns_ = 0;

  // The record that is being read.
  UnixMillis now_;
  std::uint64_t seq_ = 0;

  // The turn in progress.
  std::optional<std::size_t> turn_;
  std::size_t first_child_ = 0;
  Usage used_;
  std::map<EffectId, OpenEffect> effects_;
  std::map<CallId, TraceContext> calls_;  ///< the spans of the calls
  std::map<CallId, CallId> within_;       ///< a call that a handler made, and that handler's call
  std::map<CallId, std::string> arguments_;
  std::map<ParkId, std::size_t> waits_;
};

}  // namespace praxis::telemetry

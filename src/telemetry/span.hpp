// Spans: what one turn, model call, tool call or wait of a run was and when, computed from its records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/without_secrets.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/trace.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/json/json.hpp"
#include "praxis/logs/logs.hpp"
#include "telemetry/names.hpp"

namespace praxis::telemetry {

/// A string, integer, number, boolean, or an array of strings.
using Attributes = std::vector<std::pair<Key, Json>>;

/// Something that happened within a span, at one time.
struct SpanEvent {
  UnixMillis time;
  std::string name;
};

struct Span {
  TraceContext context;
  Operation operation = Operation::kChat;
  std::string subject = {};  ///< the agent, model, tool or kind of wait: the second word of the name
  UnixMillis begin, end;
  Attributes attributes = {};
  std::vector<SpanEvent> events = {};
  std::string error = {};           ///< why it failed, in a word; empty: it did not
  std::string message = {};         ///< the same for users; only with content
  std::optional<Usage> usage = {};  ///< of a model call

  /// The value of an attribute; null without one.
  const Json& at(Key key) const;
};

/// Removes secrets and personal data from a text.
using Redaction = std::function<std::string(const std::string&)>;

/// Which spans are wanted.
struct SpanQuestion {
  std::uint64_t after = 0;              ///< of the root: only turns that ended with a later record
  std::uint64_t until = 0;              ///< of the root: no turn that ended with a later record; 0: no bound
  bool own_turns = false;               ///< of the root: none that a fork shares with its original
  bool open_turn = true;                ///< also the turn that has not ended, up to the last record
  bool content = false;                 ///< also messages, arguments and results
  Redaction redact = nullptr;           ///< applied to all content; null: none
  app::Redactions redactions = {};      ///< whose filters at `shown` apply to names and content
  std::size_t max_content = 64 * 1024;  ///< bytes of one attribute with content
};

/// A sub-agent that a turn created, and the span of the call that did.
struct SpannedChild {
  SessionId session;
  TraceContext above;
};

struct SessionSpans {
  std::vector<Span> spans;  ///< a turn comes before what is in it
  std::vector<SpannedChild> children;
  bool incomplete = false;  ///< the last turn has not ended
};

/// The spans of one session. `above`: the span of the call that created it; null for a root. Error
/// `kJournal`: the log breaks its own rules (only with content, which needs the state).
Result<SessionSpans> session_spans(const std::vector<StoredRecord>& records, const SpanQuestion& question,
                                   const TraceContext* above = nullptr);

/// Calls `each` with the spans of a session and of each one below it; parents first. Leaves out sub-agents
/// that are not in the journal. Returns whether all turns have ended. Errors as of `read_records`.
Result<bool> tree_spans(Journal& journal, const SessionId& root, const SpanQuestion& question,
                        const std::function<Status(std::vector<Span>)>& each);

}  // namespace praxis::telemetry

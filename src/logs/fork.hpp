// A branch whose last record says something else than the original: a message, an answer, the arguments of a
// call, or the result of a tool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "praxis/base/environment.hpp"
#include "praxis/core/records.hpp"
#include "praxis/journal/journal.hpp"

namespace praxis {

/// What a record says in a branch.
struct RecordEdit {
  /// Replaces the text of a message or of an answer, or the result of a tool; nothing: it stays.
  std::optional<std::string> text = std::nullopt;
  CallId call = {};            ///< the call of an answer that gets other arguments; empty: none
  std::string arguments = {};  ///< a JSON object
};

/// The record `body` with the edit; `kind` is that of its effect. State that only the vendor of a model
/// understands is dropped from an edited answer, because it may be bound to what was said. Error `kInput`:
/// the record has nothing of that kind.
Result<RecordBody> edited_record(RecordBody body, EffectKind kind, const RecordEdit& edit);

/// As `fork_session`, but record `seq` of the fork, its last one, says what `edit` says. Error `kInput` also
/// if the record cannot be edited so.
Result<SessionId> fork_edited(Journal& journal, Environment& environment, const SessionId& session,
                              std::uint64_t seq, const RecordEdit& edit);

}  // namespace praxis

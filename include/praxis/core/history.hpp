// The normal form of a conversation. Only the normaliser creates a `History`, so a request with an orphan
// tool result, an unanswered call or an empty turn cannot be built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "praxis/base/digest.hpp"
#include "praxis/domain/message.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// A checked conversation. Invariants: system and developer messages come first; no message is empty; every
/// tool call of an assistant message is answered by exactly one result, in call order, in the one tool
/// message that follows it, unless that assistant message is the last. Cheap to copy: messages are shared and
/// immutable.
class History {
 public:
  History() = default;
  const std::vector<MessagePtr>& messages() const& { return messages_; }
  std::vector<MessagePtr> messages() && { return std::move(messages_); }
  /// Chain digest over roles and parts: equal digests mean that a model is sent the same conversation.
  const Digest& digest() const { return digest_; }
  /// Sum of the estimator over the messages.
  std::int64_t estimated_tokens() const { return tokens_; }
  bool empty() const { return messages_.empty(); }

 private:
  friend class HistoryBuilder;
  std::vector<MessagePtr> messages_;
  Digest digest_;
  std::int64_t tokens_ = 0;
};

/// One correction by the normaliser; `message` is the id of the message concerned.
struct Repair {
  enum class Kind : std::uint8_t {
    kOrphanResultDropped,     ///< a result without its call
    kDuplicateResultDropped,  ///< a second result for the same call
    /// A call without a result got one that says so.
    kMissingResultAdded,
    kResultsReordered,  ///< results were put into call order, or moved next to their calls
    kEmptyMessageDropped,
    /// A call was cut off, is ambiguous, or is not the model's.
    kInvalidCallDropped,
    kLateSystemMoved,  ///< a system message after the start became a user note
  };
  Kind kind;
  MessageId message;
  CallId call;  ///< empty if no call is concerned
};
std::string_view to_string(Repair::Kind kind);
using RepairReport = std::vector<Repair>;

/// The normaliser, message by message: fed with a session's messages as they settle, it keeps the history in
/// normal form at constant cost per message.
class HistoryBuilder {
 public:
  /// Adds the next message of the conversation and repairs what violates the normal form. If the message has
  /// a `CompactionPart`, in which the vendor has compacted everything before it, drops the earlier messages
  /// as `cut` does.
  void push(MessagePtr message);
  /// Closes an assistant message whose calls are still unanswered by adding results that say so; no-op
  /// otherwise. Turns the history of a cancelled or failed turn into a valid one.
  void close_open_calls(std::string_view why);
  /// Drops the messages before `keep_from` (an index into `history().messages()`, moved to the next safe
  /// cut), except the leading system messages, the last `CompactionPart` and, unless a user message is at the
  /// cut, the last user message before it, so that the goal stays.
  void cut(std::size_t keep_from);
  /// Replaces the messages before `keep_from` (moved as in `cut`) by `summary`, except the leading system
  /// messages and those that `kept_verbatim` names.
  void summarise(std::size_t keep_from, MessagePtr summary, std::int64_t verbatim_tokens);
  /// Drops the messages after the first `count`, as if they had never been pushed; leading system messages
  /// stay.
  void keep_first(std::size_t count);

  /// The current history. An open assistant message (with unanswered calls) may be last.
  const History& history() const { return history_; }
  const RepairReport& repairs() const { return repairs_; }
  /// Calls of the last assistant message while some lack results.
  const std::vector<ToolCallPart>& open_calls() const { return open_; }

 private:
  std::size_t safe_cut(std::size_t keep_from) const;
  void forget_before(std::size_t keep_from);
  void push_assistant(MessagePtr message);
  void push_words(MessagePtr message);
  void push_results(const MessagePtr& message);
  void settle_open_calls();
  void append(MessagePtr message);
  void report(Repair::Kind kind, const Message& message, CallId call = {});

  History history_;
  RepairReport repairs_;
  std::vector<ToolCallPart> open_;                      ///< calls of the last message that wait for results
  std::vector<std::optional<ToolResultPart>> answers_;  ///< of `open_`, by index
  std::vector<std::size_t> arrivals_;                   ///< indexes of `open_` in the order of their answers
  MessagePtr answer_message_;                           ///< the first message that answered one of `open_`
};

/// The normal form of a whole conversation: a valid history from `messages` in any order or state, and the
/// report of what was repaired.
struct Normalised {
  History history;
  RepairReport repairs;
};
Normalised normalise(const std::vector<Message>& messages);

/// Whether a cut before `index` separates no tool call from its result (S2-43).
bool is_tool_boundary_safe(const History& history, std::size_t index);
/// Returns the first safe cut at or after `index`; the number of messages if no cut is safe (S2-42).
std::size_t find_safe_tool_boundary(const History& history, std::size_t index);

/// Returns the indexes of the user messages that a summary of the messages before `cut` does not replace: the
/// first, which is the goal; the last before the cut, unless a user message is at the cut; and the latest of
/// the others that together fit into `max_tokens`.
std::vector<std::size_t> kept_verbatim(const History& history, std::size_t cut, std::int64_t max_tokens);

/// Bounds on what is sent to a model; 0 means no bound.
struct HistoryLimits {
  std::size_t max_messages = 50;
  std::int64_t max_tokens = 0;  ///< by the estimator
  bool operator==(const HistoryLimits&) const = default;
};
/// Returns where to cut so that the history fits `limits`: an index for `HistoryBuilder::cut`, or 0 if it
/// fits or nothing can be cut. Cuts a quarter more than needed, so that the prefix in a vendor's cache then
/// stays unchanged for several steps. The last exchange (an assistant message with its results) always stays.
std::size_t choose_cut(const History& history, const HistoryLimits& limits);

/// Estimates tokens in one pass over letter runs, digits, punctuation and scripts; not a tokenizer.
std::int64_t estimate_tokens(std::string_view text);
std::int64_t estimate_tokens(const Message& message);

}  // namespace praxis
#pragma GCC visibility pop

#include "praxis/core/history.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "domain/json_forms.hpp"

namespace praxis {
namespace {

bool is_instruction(const Message& message) {
  return message.role == Role::kSystem || message.role == Role::kDeveloper;
}

bool says_nothing(const Message& message) {
  return std::ranges::all_of(message.parts, [](const Part& part) {
    const auto* text = std::get_if<TextPart>(&part);
    return text != nullptr && text->text.empty();
  });
}

/// Returns the part of a message that its digest covers: role and parts, not id and time, because only those
/// reach a model.
std::string digested_form(const Message& message) {
  constexpr std::size_t kUsualBytes = 256;
  std::string form;
  form.reserve(kUsualBytes);
  form += to_string(message.role);
  for (const Part& part : message.parts) {
    form += '\n';
    append_object(form, [&](JsonFields& out) { write(out, part); });
  }
  return form;
}

std::size_t leading_instructions(const std::vector<MessagePtr>& messages) {
  const auto first =
      std::ranges::find_if_not(messages, [](const MessagePtr& m) { return is_instruction(*m); });
  return static_cast<std::size_t>(first - messages.begin());
}

template <class Wanted>
bool has_part(const Message& message) {
  return std::ranges::any_of(message.parts,
                             [](const Part& part) { return std::holds_alternative<Wanted>(part); });
}

/// Whether the message is the user's own: a summary has the user's role, but is not.
bool is_users(const Message& message) {
  return message.role == Role::kUser && !has_part<CompactionPart>(message);
}

/// Returns the index of the user message to keep when the messages before `cut` are dropped: the one at
/// `cut`, else the last before it; `cut` if there are no user messages.
std::size_t goal_before(const std::vector<MessagePtr>& messages, std::size_t cut) {
  const auto is_user = [&](std::size_t i) { return is_users(*messages[i]); };
  if (cut < messages.size() && is_user(cut)) return cut;
  for (std::size_t i = cut; i-- > 0;) {
    if (is_user(i)) return i;
  }
  return cut;
}

/// Returns the index of the last compaction if it is before `cut`; else `cut`.
std::size_t compaction_before(const std::vector<MessagePtr>& messages, std::size_t cut) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (has_part<CompactionPart>(*messages[i])) return std::min(i, cut);
  }
  return cut;
}

/// Returns a copy of a message with only its compaction.
MessagePtr compaction_alone(const MessagePtr& message) {
  auto alone = std::make_shared<Message>(*message);
  std::erase_if(alone->parts, [](const Part& part) { return !std::holds_alternative<CompactionPart>(part); });
  return alone;
}

}  // namespace

std::string_view to_string(Repair::Kind kind) {
  switch (kind) {
    case Repair::Kind::kOrphanResultDropped:
      return "orphan_result_dropped";
    case Repair::Kind::kDuplicateResultDropped:
      return "duplicate_result_dropped";
    case Repair::Kind::kMissingResultAdded:
      return "missing_result_added";
    case Repair::Kind::kResultsReordered:
      return "results_reordered";
    case Repair::Kind::kEmptyMessageDropped:
      return "empty_message_dropped";
    case Repair::Kind::kInvalidCallDropped:
      return "invalid_call_dropped";
    case Repair::Kind::kLateSystemMoved:
      return "late_system_moved";
  }
  std::unreachable();
}

void HistoryBuilder::report(Repair::Kind kind, const Message& message, CallId call) {
  repairs_.push_back({kind, message.id, std::move(call)});
}

void HistoryBuilder::append(MessagePtr message) {
  history_.digest_ = digest_chain(history_.digest_, digested_form(*message));
  history_.tokens_ += estimate_tokens(*message);
  history_.messages_.push_back(std::move(message));
}

void HistoryBuilder::push(MessagePtr message) {
  switch (message->role) {
    case Role::kTool:
      return push_results(message);
    case Role::kAssistant:
      return push_assistant(std::move(message));
    default:
      return push_words(std::move(message));
  }
}

void HistoryBuilder::push_words(MessagePtr message) {
  // In the three-role vocabulary results travel inside user messages.
  if (has_part<ToolResultPart>(*message) || has_part<ToolCallPart>(*message)) {
    push_results(message);
    auto rest = std::make_shared<Message>(*message);
    std::erase_if(rest->parts, [](const Part& part) { return std::holds_alternative<ToolResultPart>(part); });
    std::erase_if(rest->parts, [&](const Part& part) {
      const auto* call = std::get_if<ToolCallPart>(&part);
      if (call != nullptr) report(Repair::Kind::kInvalidCallDropped, *message, call->id);
      return call != nullptr;
    });
    if (rest->parts.empty()) return;
    message = std::move(rest);
  }
  close_open_calls("no result was recorded");
  if (says_nothing(*message)) return report(Repair::Kind::kEmptyMessageDropped, *message);
  const bool late = leading_instructions(history_.messages_) < history_.messages_.size();
  if (is_instruction(*message) && late) {
    report(Repair::Kind::kLateSystemMoved, *message);
    auto note = std::make_shared<Message>(*message);
    note->role = Role::kUser;
    message = std::move(note);
  }
  append(std::move(message));
}

void HistoryBuilder::push_assistant(MessagePtr message) {
  close_open_calls("no result was recorded");
  std::vector<std::size_t> dropped;
  for (std::size_t i = 0; i < message->parts.size(); ++i) {
    const Part& part = message->parts[i];
    if (const auto* result = std::get_if<ToolResultPart>(&part)) {
      report(Repair::Kind::kOrphanResultDropped, *message, result->id);
      dropped.push_back(i);
    } else if (const auto* call = std::get_if<ToolCallPart>(&part)) {
      const bool taken = std::ranges::any_of(open_, [&](const ToolCallPart& c) { return c.id == call->id; });
      if (call->valid && !call->id.empty() && !call->name.empty() && !taken) {
        open_.push_back(*call);
      } else {
        report(Repair::Kind::kInvalidCallDropped, *message, call->id);
        dropped.push_back(i);
      }
    }
  }
  answers_.assign(open_.size(), std::nullopt);
  if (!dropped.empty()) {
    auto repaired = std::make_shared<Message>(*message);
    for (const std::size_t i : dropped | std::views::reverse)
      repaired->parts.erase(repaired->parts.begin() + static_cast<std::ptrdiff_t>(i));
    message = std::move(repaired);
  }
  if (says_nothing(*message)) return report(Repair::Kind::kEmptyMessageDropped, *message);
  const bool stands_for_all = has_part<CompactionPart>(*message);
  append(std::move(message));
  if (stands_for_all) forget_before(history_.messages_.size() - 1);
}

void HistoryBuilder::push_results(const MessagePtr& message) {
  for (const Part& part : message->parts) {
    const auto* result = std::get_if<ToolResultPart>(&part);
    if (result == nullptr) continue;
    const auto call = std::ranges::find(open_, result->id, &ToolCallPart::id);
    if (call == open_.end()) {
      report(Repair::Kind::kOrphanResultDropped, *message, result->id);
      continue;
    }
    const auto index = static_cast<std::size_t>(call - open_.begin());
    auto& answer = answers_[index];
    if (answer) {
      report(Repair::Kind::kDuplicateResultDropped, *message, result->id);
      continue;
    }
    answer = *result;
    arrivals_.push_back(index);
    if (!answer_message_) answer_message_ = message;
  }
  const bool complete = std::ranges::all_of(answers_, [](const auto& answer) { return answer.has_value(); });
  if (!open_.empty() && complete) settle_open_calls();
}

/// Called when all calls are answered: appends one tool message with the results in call order.
void HistoryBuilder::settle_open_calls() {
  auto results = std::make_shared<Message>();
  results->role = Role::kTool;
  if (answer_message_) {
    results->id = answer_message_->id;
    results->created = answer_message_->created;
    if (!std::ranges::is_sorted(arrivals_)) report(Repair::Kind::kResultsReordered, *answer_message_);
  }
  for (auto& answer : answers_) results->parts.emplace_back(*std::move(answer));
  open_.clear();
  answers_.clear();
  arrivals_.clear();
  answer_message_.reset();
  append(std::move(results));
}

void HistoryBuilder::close_open_calls(std::string_view why) {
  if (open_.empty()) return;
  const Message& last = *history_.messages_.back();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (answers_[i]) continue;
    report(Repair::Kind::kMissingResultAdded, last, open_[i].id);
    answers_[i] = ToolResultPart{open_[i].id, open_[i].name, ToolStatus::kError, std::string(why), {}};
  }
  settle_open_calls();
}

/// Returns the first index at or after `keep_from` where the history can be cut.
std::size_t HistoryBuilder::safe_cut(std::size_t keep_from) const {
  const std::vector<MessagePtr>& all = history_.messages_;
  const std::size_t safe = find_safe_tool_boundary(history_, keep_from);
  // A message with open calls stays: its results will follow it.
  return std::clamp(safe, leading_instructions(all), open_.empty() ? all.size() : all.size() - 1);
}

void HistoryBuilder::cut(std::size_t keep_from) { forget_before(safe_cut(keep_from)); }

void HistoryBuilder::forget_before(std::size_t keep_from) {
  const std::vector<MessagePtr> all = std::exchange(history_, {}).messages_;
  const std::size_t head = leading_instructions(all);
  const std::size_t goal = goal_before(all, keep_from);
  const std::size_t compaction = compaction_before(all, keep_from);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < head || i == goal || i >= keep_from) {
      append(all[i]);
    } else if (i == compaction) {
      append(compaction_alone(all[i]));
    }
  }
}

void HistoryBuilder::summarise(std::size_t keep_from, MessagePtr summary, std::int64_t verbatim_tokens) {
  keep_from = safe_cut(keep_from);
  const std::vector<std::size_t> verbatim = kept_verbatim(history_, keep_from, verbatim_tokens);
  const std::vector<MessagePtr> all = std::exchange(history_, {}).messages_;
  for (std::size_t i = 0; i < leading_instructions(all); ++i) append(all[i]);
  for (const std::size_t i : verbatim) append(all[i]);
  append(std::move(summary));
  for (std::size_t i = keep_from; i < all.size(); ++i) append(all[i]);
}

void HistoryBuilder::keep_first(std::size_t count) {
  std::vector<MessagePtr> all = std::exchange(history_, {}).messages_;
  all.resize(std::clamp(count, leading_instructions(all), all.size()));
  open_.clear();
  answers_.clear();
  arrivals_.clear();
  answer_message_.reset();
  for (MessagePtr& message : all) push(std::move(message));
}

Normalised normalise(const std::vector<Message>& messages) {
  HistoryBuilder builder;
  for (const Message& message : messages) builder.push(std::make_shared<const Message>(message));
  return {builder.history(), builder.repairs()};
}

bool is_tool_boundary_safe(const History& history, std::size_t index) {
  const auto& messages = history.messages();
  return index >= messages.size() || messages[index]->role != Role::kTool;
}

std::size_t find_safe_tool_boundary(const History& history, std::size_t index) {
  while (!is_tool_boundary_safe(history, index)) ++index;
  return std::min(index, history.messages().size());
}

std::vector<std::size_t> kept_verbatim(const History& history, std::size_t cut, std::int64_t max_tokens) {
  const auto& messages = history.messages();
  std::vector<std::size_t> users;
  for (std::size_t i = 0; i < std::min(cut, messages.size()); ++i) {
    if (is_users(*messages[i])) users.push_back(i);
  }
  if (users.size() <= 1) return users;
  const std::size_t latest = goal_before(messages, cut);
  std::vector<std::size_t> kept;
  for (auto i = users.rbegin(); i != users.rend(); ++i) {
    const bool always = *i == users.front() || *i == latest;
    const std::int64_t tokens = always ? 0 : estimate_tokens(*messages[*i]);
    if (tokens > max_tokens) continue;
    max_tokens -= tokens;
    kept.push_back(*i);
  }
  std::ranges::reverse(kept);
  return kept;
}

std::size_t choose_cut(const History& history, const HistoryLimits& limits) {
  const auto& messages = history.messages();
  const std::size_t head = leading_instructions(messages);
  const bool too_many = limits.max_messages != 0 && messages.size() - head > limits.max_messages;
  const bool too_long = limits.max_tokens != 0 && history.estimated_tokens() > limits.max_tokens;
  if (!too_many && !too_long) return 0;

  std::size_t cut = messages.size();
  std::int64_t tokens = 0;
  while (cut > head) {
    tokens += estimate_tokens(*messages[cut - 1]);
    if (too_many && messages.size() - cut + 1 > std::max<std::size_t>(1, limits.max_messages * 3 / 4)) break;
    if (too_long && tokens > limits.max_tokens * 3 / 4) break;
    --cut;
  }
  cut = find_safe_tool_boundary(history, cut);
  // The last exchange stays regardless of its size: the model must know what it just did.
  if (cut == messages.size()) {
    while (cut > head && (cut == messages.size() || !is_tool_boundary_safe(history, cut))) --cut;
  }
  const std::size_t goal = goal_before(messages, cut);
  const std::size_t kept = head + (goal < cut ? 1 : 0) + (compaction_before(messages, cut) < cut ? 1 : 0);
  return cut > kept ? cut : 0;
}

}  // namespace praxis

#include "app/turn_message.hpp"

#include <algorithm>
#include <variant>

#include "app/hints.hpp"
#include "praxis/core/records.hpp"

namespace praxis::app {
namespace {

constexpr const char* kInputBlock = "\n\n<stdin>\n";  ///< before standard input, which follows a prompt

}  // namespace

Result<TurnMessage> turn_message_at(const std::vector<StoredRecord>& records, std::uint64_t seq) {
  auto start = records.end();
  for (auto at = records.begin(); at != records.end() && (seq == 0 || at->seq <= seq); ++at) {
    if (std::holds_alternative<records::TurnStarted>(at->record.body)) start = at;
  }
  const auto message = std::find_if(start, records.end(), [](const StoredRecord& stored) {
    return std::holds_alternative<records::MessageAppended>(stored.record.body);
  });
  if (message == records.end()) return fail(usage_error("the run has no message to edit"));
  const auto& appended = std::get<records::MessageAppended>(message->record.body);
  if (appended.source != MessageSource::kUser)
    return fail(usage_error("the turn did not begin with a message of the user that can be edited (" +
                                std::string(to_string(appended.source)) + ")",
                            "ID@t1 names another turn"));
  TurnMessage found{start->seq - 1, {}, {}};
  const auto& parts = (appended.original ? appended.original : appended.message)->parts;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const auto* text = std::get_if<TextPart>(&*part);
    const bool is_prompt = text != nullptr && (found.text.empty() || found.text.starts_with(kInputBlock));
    if (is_prompt) {
      found.text.insert(0, text->text);
    } else {
      found.rest.insert(found.rest.begin(), *part);
    }
  }
  return found;
}

}  // namespace praxis::app

#include "tui/completion.hpp"

#include "app/user_message.hpp"

namespace praxis::tui {

std::optional<CompletedWord> completed_word(std::string_view before) {
  if (before.starts_with('/') && before.find_first_of(" \n\t") == std::string_view::npos)
    return CompletedWord{CompletedKind::kCommand, 0, std::string(before.substr(1))};
  const std::size_t line = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  for (std::size_t at = before.rfind('@'); at != std::string_view::npos && at >= line;
       at = at == 0 ? std::string_view::npos : before.rfind('@', at - 1)) {
    if (!app::may_begin_mention(before, at)) continue;
    std::string_view typed = before.substr(at + 1);
    const bool is_quoted = typed.starts_with('"');
    if (is_quoted) typed.remove_prefix(1);
    const bool has_ended = typed.find_first_of(is_quoted ? "\"" : " \t") != std::string_view::npos;
    if (has_ended) return std::nullopt;
    return CompletedWord{CompletedKind::kFile, at, std::string(typed)};
  }
  return std::nullopt;
}

std::vector<Choice> file_choices(const std::vector<std::string>& names) {
  std::vector<Choice> choices;
  choices.reserve(names.size());
  for (const std::string& name : names) choices.push_back({name, name, ""});
  return choices;
}

std::string file_word(std::string_view path) { return app::mention_of(path) + ' '; }

}  // namespace praxis::tui

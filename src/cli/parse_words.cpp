#include "cli/parse_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "app/values.hpp"
#include "cli/tree_words.hpp"

namespace praxis::cli {

std::vector<std::string> without_shortcuts(std::span<const std::string> arguments) {
  std::vector<std::string> out(arguments.begin(), arguments.end());
  if (out.empty()) return out;
  if (out[0] == "version" || out[0] == "-V") return {"--version"};
  // The parser takes what follows `--` as words only where none came before.
  if (out.size() > 4 && out[0] == "mcp" && out[1] == "add" && out[3] == "--") std::swap(out[2], out[3]);
  if (out[0] != "help") return out;
  out.erase(out.begin());
  if (out.size() > 1) out.resize(1);
  out.emplace_back("--help");
  return out;
}

namespace {

bool has_flag(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) { return word.starts_with('-'); });
}

/// The words as one prompt, quoted for the shell.
std::string as_prompt(std::span<const std::string> words) {
  std::string prompt;
  for (const std::string& word : words) prompt += (prompt.empty() ? "" : " ") + word;
  return app::shell_word(prompt);
}

}  // namespace

std::string hint_for_words(std::span<const std::string> words) {
  if (is_tree_command(words.front())) {
    if (words.size() < 2 || has_flag(words)) return "praxis tree --help";
    const std::string text = words.size() > 2 ? ' ' + as_prompt(words.subspan(2)) : "";
    return "praxis tree " + words.front() + ' ' + app::shell_word(words[1]) + text;
  }
  return words.size() < 2 || has_flag(words) ? "praxis --help" : "praxis run " + as_prompt(words);
}

std::string hint_for_rest(std::span<const std::string> arguments) {
  const std::string& command = arguments.front();
  const auto words = arguments.subspan(1);
  const bool takes_prompt = command == "run" || command == "resume";
  if (!takes_prompt || words.size() < 2 || has_flag(words)) return "praxis " + command + " --help";
  const bool has_name = command == "resume" || words.front().find_first_of("./") != std::string::npos;
  if (!has_name) return "praxis run " + as_prompt(words);
  return "praxis " + command + ' ' + app::shell_word(words.front()) + ' ' + as_prompt(words.subspan(1));
}

namespace {

/// The words of `{a,b}`: `a, b`.
std::string listed_words(std::string_view list) {
  std::string words;
  for (const char c : list.substr(0, list.find('}'))) words += c == ',' ? ", " : std::string(1, c);
  return words;
}

/// A message about a value that is not one of a list, or about how often an option is given; empty if it is
/// neither.
std::string about_choice(const std::string& name, const std::string& rest) {
  constexpr std::string_view kNotIn = " not in {", kAtMost = "At Most 1 required but received ";
  if (const auto in = rest.find(kNotIn); in != std::string::npos) {
    return fmt::format("{}: \"{}\" is not one of {}", name, rest.substr(0, in),
                       listed_words(std::string_view(rest).substr(in + kNotIn.size())));
  }
  if (rest.starts_with(kAtMost))
    return fmt::format("{} is given {} times; give it once", name, rest.substr(kAtMost.size()));
  return {};
}

}  // namespace

std::string plain_message(const std::string& message) {
  constexpr std::string_view kOverride = " was given a disallowed flag override";
  if (const auto at = message.find(kOverride); at != std::string::npos)
    return (at > 1 ? "--" : "-") + message.substr(0, at) + " takes no value";
  constexpr std::string_view kOneRequired = "1 required ", kMissing = " missing", kValue = "Value ",
                             kNotInRange = " not in range ", kConvert = "Could not convert";
  const auto colon = message.find(": ");
  if (colon == std::string::npos) return message;
  const std::string name = message.substr(0, colon), rest = message.substr(colon + 2);
  if (rest.starts_with(kOneRequired) && rest.ends_with(kMissing)) {
    const auto type = rest.substr(kOneRequired.size(), rest.size() - kOneRequired.size() - kMissing.size());
    return fmt::format("{0} needs a value: {0} {1}", name, type);
  }
  if (const std::string text = about_choice(name, rest); !text.empty()) return text;
  const auto range = rest.find(kNotInRange);
  if (rest.starts_with(kValue) && range != std::string::npos) {
    return fmt::format("{}: \"{}\" is not a number from {}", name,
                       rest.substr(kValue.size(), range - kValue.size()),
                       rest.substr(range + kNotInRange.size()));
  }
  const auto equals = rest.find(" = ");
  if (name == kConvert && equals != std::string::npos)
    return fmt::format("{}: \"{}\" is not a number", rest.substr(0, equals), rest.substr(equals + 3));
  return message;
}

}  // namespace praxis::cli

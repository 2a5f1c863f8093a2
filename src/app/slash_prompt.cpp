#include "app/slash_prompt.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "app/hints.hpp"
#include "app/plain_text.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::app {
namespace {

constexpr std::size_t kMaxShownName = 100;
constexpr std::string_view kWordEnds = " \t\n";

/// The words of a text; quotes keep blanks. Error: a quote has no end.
Result<std::vector<std::string>> words_in(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c != quote) *word += c;
      if (c == quote) quote = '\0';
    } else if (kWordEnds.contains(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      if (!word) word.emplace();
      // An apostrophe within a word is one.
      const bool opens = c == '"' || (c == '\'' && (word->empty() || word->ends_with('=')));
      if (opens) quote = c;
      if (!opens) *word += c;
    }
  }
  if (quote != '\0') return fail(usage_error(std::string("the quote ") + quote + " has no end"));
  if (word) words.push_back(*std::move(word));
  return words;
}

const OfferedPrompt::Argument* named(const OfferedPrompt& prompt, std::string_view name) {
  const auto found = std::ranges::find(prompt.arguments, name, &OfferedPrompt::Argument::name);
  return found == prompt.arguments.end() ? nullptr : &*found;
}

/// Gives a word to the first argument that has no value, or adds it to the last.
Status give(const OfferedPrompt& prompt, const std::vector<std::string>& words, JsonObject& arguments) {
  std::string last;
  for (const std::string& word : words) {
    const auto free = std::ranges::find_if(prompt.arguments,
                                           [&](const auto& each) { return !arguments.contains(each.name); });
    if (free != prompt.arguments.end()) {
      last = free->name;
      arguments[last] = word;
    } else if (!last.empty()) {
      arguments[last] = json_string(Json(arguments), last) + ' ' + word;
    } else {
      return fail(usage_error("the prompt takes no further argument: " + in_quotes(one_line(word, 60)),
                              one_line(prompt.name, kMaxShownName) + ' ' + prompt_usage(prompt)));
    }
  }
  return {};
}

/// The first word of a command, without its `/`, and the rest.
std::pair<std::string_view, std::string_view> command_of(std::string_view message) {
  if (!message.starts_with('/')) return {};
  message.remove_prefix(1);
  const std::size_t end = std::min(message.find_first_of(kWordEnds), message.size());
  return {message.substr(0, end), message.substr(end)};
}

std::shared_ptr<PromptSource> source_of(std::string_view name, const PromptSources& sources) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return nullptr;
  const auto found = std::ranges::find_if(
      sources, [&](const auto& each) { return each->server() == name.substr(0, colon); });
  return found == sources.end() ? nullptr : *found;
}

}  // namespace

Result<JsonObject> prompt_arguments(const OfferedPrompt& prompt, const std::vector<std::string>& words) {
  JsonObject arguments;
  std::vector<std::string> others;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const auto* const argument =
        equals == std::string::npos ? nullptr : named(prompt, std::string_view(word).substr(0, equals));
    if (argument != nullptr) {
      arguments[argument->name] = word.substr(equals + 1);
    } else {
      others.push_back(word);
    }
  }
  if (auto given = give(prompt, others, arguments); !given) return fail(std::move(given.error()));
  for (const auto& each : prompt.arguments) {
    if (!each.required || arguments.contains(each.name)) continue;
    return fail(usage_error("the prompt needs " + in_quotes(one_line(each.name, kMaxShownName)) +
                                (each.description.empty() ? "" : ": " + one_line(each.description, 200)),
                            one_line(prompt.name, kMaxShownName) + ' ' + prompt_usage(prompt)));
  }
  return arguments;
}

std::string prompt_usage(const OfferedPrompt& prompt) {
  std::string text;
  for (const auto& each : prompt.arguments) {
    const std::string name = one_line(each.name, kMaxShownName);
    text += (text.empty() ? "" : " ") + (each.required ? name : '[' + name + ']');
  }
  return text;
}

bool names_prompt(std::string_view message, const PromptSources& sources) {
  return source_of(command_of(message).first, sources) != nullptr;
}

Result<std::string> filled_prompt(std::string_view message, const PromptSources& sources,
                                  const std::stop_token& stop) {
  const auto [name, rest] = command_of(message);
  const auto words = words_in(rest);
  return words ? prompt_text(name, *words, sources, stop) : fail(words.error());
}

Result<std::string> prompt_text(std::string_view name, const std::vector<std::string>& words,
                                const PromptSources& sources, const std::stop_token& stop) {
  const auto source = source_of(name, sources);
  const std::string shown = in_quotes(one_line(name, kMaxShownName));
  if (!source) return fail(usage_error("no server of the agent has the prompt " + shown));
  const auto prompts = source->list(stop);
  if (!prompts) return fail(prompts.error());
  const auto prompt = std::ranges::find(*prompts, name, &OfferedPrompt::name);
  if (prompt == prompts->end()) {
    std::vector<std::string> names;
    for (const OfferedPrompt& each : *prompts) names.push_back(each.name);
    const auto nearest = closest(std::string(name), names);
    return fail(
        usage_error("the server has no prompt " + shown,
                    nearest ? "did you mean " + in_quotes(one_line(*nearest, kMaxShownName)) + '?' : ""));
  }
  const auto arguments = prompt_arguments(*prompt, words);
  if (!arguments) return fail(arguments.error());
  return source->text(*prompt, *arguments, stop);
}

std::vector<OfferedPrompt> offered_prompts(const PromptSources& sources, const std::stop_token& stop) {
  std::vector<OfferedPrompt> all;
  for (const auto& source : sources) {
    auto prompts = source->list(stop);
    if (prompts) std::ranges::move(*prompts, std::back_inserter(all));
  }
  return all;
}

}  // namespace praxis::app

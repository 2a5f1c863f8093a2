#include "cli/complete_words.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace praxis::cli {
namespace {

using enum WordKind;

constexpr std::string_view kRunVerbs = "name unname tag untag rm prune";
constexpr std::string_view kTreeVerbs =
    "stop pause unpause steer enqueue annotate modify withdraw move compact delete";
constexpr std::string_view kStatuses =
    "completed error cancelled interrupted awaiting_user running idle deleted corrupt";

constexpr std::array kWordPlaces{
    WordPlace{"run", "AGENT", kAgent},
    WordPlace{"run", "--model", kModel},
    WordPlace{"run", "--route-order", kFixed, "priority cost latency"},
    WordPlace{"chat", "AGENT", kAgent},
    WordPlace{"chat", "--model", kModel},
    WordPlace{"chat", "--resume", kRun},
    WordPlace{"agents", "VERB", kFixed, "list show init"},
    WordPlace{"acp", "AGENT", kAgent},
    WordPlace{"eval", "--model", kModel},
    WordPlace{"acp", "--model", kModel},
    WordPlace{"agents", "NAME", kAgent},
    WordPlace{"resume", "ID", kRun},
    WordPlace{"resume", "--model", kModel},
    WordPlace{"approve", "ID", kStep},
    WordPlace{"tree", "ROOT", kRun, kTreeVerbs},
    WordPlace{"tree", "NODE", kRun},
    WordPlace{"runs", "WORD", kRun, kRunVerbs},
    WordPlace{"runs", "--agent", kAgent},
    WordPlace{"runs", "--model", kModel},
    WordPlace{"runs", "--status", kFixed, kStatuses},
    WordPlace{"show", "ID", kRun},
    WordPlace{"logs", "ID", kRun},
    WordPlace{"fork", "ID[@STEP]", kRun},
    WordPlace{"fork", "--model", kModel},
    WordPlace{"rewind", "ID[@TURN]", kRun},
    WordPlace{"diff", "ID[@STEP]", kRun},
    WordPlace{"undo", "ID[@STEP]", kRun},
    WordPlace{"replay", "ID", kRun},
    WordPlace{"replay", "--model", kModel},
    WordPlace{"export", "ID", kRun},
    WordPlace{"export", "--format", kFixed, "records markdown html json"},
    WordPlace{"models", "NAME", kProvider},
    WordPlace{"tokens", "VERB", kFixed, "add list revoke"},
    WordPlace{"secrets", "VERB", kFixed, "list check"},
    WordPlace{"trust", "VERB", kFixed, "show accept list revoke"},
    WordPlace{"config", "VERB", kFixed, "show explain set edit"},
    WordPlace{"config", "KEY", kSetting},
    WordPlace{"serve", "--model", kModel},
    WordPlace{"memory", "VERB", kFixed, "list search show add forget sweep export import"},
    WordPlace{"prompts", "VERB", kFixed, "list show diff render put label check"},
    WordPlace{"schedule", "VERB", kFixed, "add list rm pause unpause run"},
    WordPlace{"schedule", "AGENT", kAgent},
    WordPlace{"mcp", "VERB", kFixed, "list test call accept prompts login logout add remove serve"},
    WordPlace{"mcp", "WORDS", kAgent},
    WordPlace{"mcp", "--model", kModel},
    WordPlace{"redact", "--profile", kFixed, "balanced strict"},
    WordPlace{"redact", "--only", kFixed, "secrets personal"},
    WordPlace{"completion", "SHELL", kFixed, "bash zsh fish"},
};

bool has_flag(const OptionText& option, std::string_view flag) {
  return std::ranges::count(option.flags, flag) > 0;
}

const OptionText* option_of(const CommandText& command, std::string_view flag) {
  const auto found =
      std::ranges::find_if(command.options, [&](const OptionText& each) { return has_flag(each, flag); });
  return found == command.options.end() ? nullptr : &*found;
}

/// The words of one command, read from the left.
class CommandWords {
 public:
  CommandWords(const CommandText& command, WantedWord& wanted) : command_(command), wanted_(wanted) {}

  void pass(const std::string& word) {
    if (const OptionText* option = std::exchange(open_, nullptr)) return keep(*option, word);
    if (word == "--" && !only_positional_) {
      only_positional_ = true;
    } else if (word.starts_with('-') && word.size() > 1 && !only_positional_) {
      const auto equals = word.find('=');
      const OptionText* option = option_of(command_, word.substr(0, equals));
      if (option == nullptr || option->value.empty()) return;
      if (equals == std::string::npos) {
        open_ = option;
      } else {
        keep(*option, word.substr(equals + 1));
      }
    } else {
      first_ = positions_ == 0 ? word : first_;
      ++positions_;
    }
  }

  void complete(const std::string& word) {
    wanted_.typed = word;
    if (open_ != nullptr) return offer_value(*open_);
    if (!word.starts_with('-') || only_positional_) return offer_position();
    const auto equals = word.find('=');
    const OptionText* option = option_of(command_, word.substr(0, equals));
    if (equals == std::string::npos) {
      wanted_.kind = kFlag;
    } else if (option != nullptr) {
      wanted_.before = word.substr(0, equals + 1);
      wanted_.typed = word.substr(equals + 1);
      offer_value(*option);
    }
  }

 private:
  void keep(const OptionText& option, const std::string& value) {
    if (has_flag(option, "--journal")) wanted_.place.journal = value;
    if (has_flag(option, "--directory")) wanted_.place.folder = value;
    if (has_flag(option, "--profile")) wanted_.place.profile = value;
  }

  void offer(std::string_view name) {
    const auto found = std::ranges::find_if(kWordPlaces, [&](const WordPlace& place) {
      return place.command == command_.name && place.name == name;
    });
    if (found == kWordPlaces.end()) return;
    wanted_.kind = found->kind;
    wanted_.fixed = found->fixed;
  }

  void offer_value(const OptionText& option) {
    for (const std::string& flag : option.flags) offer(flag);
  }

  void offer_position() {
    const OptionText* position = nullptr;
    std::size_t left = positions_;
    for (const OptionText& option : command_.options) {  // the last one takes all further words
      if (!option.flags.empty()) continue;
      position = &option;
      if (left-- == 0) break;
    }
    if (position == nullptr) return;
    const bool is_word_of_verb = command_.name == "tree" || command_.name == "runs";
    const std::string_view verbs = command_.name == "tree" ? kTreeVerbs : kRunVerbs;
    if (is_word_of_verb && positions_ > 0 && !is_among(first_, verbs)) return;  // words to search for
    offer(position->value);
    if (positions_ > 0) wanted_.fixed = {};
  }

  static bool is_among(std::string_view word, std::string_view words) {
    return (' ' + std::string(words) + ' ').find(' ' + std::string(word) + ' ') != std::string::npos;
  }

  const CommandText& command_;
  WantedWord& wanted_;
  const OptionText* open_ = nullptr;  ///< the option whose value is next
  std::size_t positions_ = 0;         ///< positional words so far
  std::string first_;
  bool only_positional_ = false;
};

}  // namespace

WantedWord wanted_word(const ProgramText& program, std::span<const std::string> words) {
  WantedWord wanted;
  if (words.size() < 2 || (words.size() == 2 && words[0] == "help")) {
    wanted.kind = kCommand;
    wanted.typed = words.empty() ? "" : words.back();
    return wanted;
  }
  const auto command = std::ranges::find(program.commands, words[0], &CommandText::name);
  if (command == program.commands.end()) return wanted;
  wanted.command = command->name;
  CommandWords reader(*command, wanted);
  for (const std::string& word : words.subspan(1, words.size() - 2)) reader.pass(word);
  reader.complete(words.back());
  return wanted;
}

std::span<const WordPlace> word_places() { return kWordPlaces; }

}  // namespace praxis::cli

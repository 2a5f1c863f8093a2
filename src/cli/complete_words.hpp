// What a word of the command line can be, for the completion of shells: pure, from the words before it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspace.hpp"
#include "cli/description.hpp"

namespace praxis::cli {

/// What can stand in a place of the command line.
enum class WordKind : std::uint8_t {
  kUnknown,  ///< a file, or free text: nothing is offered
  kCommand,
  kFlag,
  kFixed,  ///< one of `WantedWord::fixed`
  kRun,
  kStep,  ///< that awaits a human
  kAgent,
  kModel,
  kProvider,  ///< or a model
  kSetting,
};

/// The word to complete.
struct WantedWord {
  std::string command;  ///< before it; empty at the first word
  WordKind kind = WordKind::kUnknown;
  std::string_view fixed;  ///< words separated by spaces, offered in addition to those of the kind
  std::string before;      ///< what stays in the word: `--model=`
  std::string typed;       ///< the rest
  app::Place place;        ///< as given by the words before
};

/// `words` are those after the program's name, up to the one to complete, which may be empty.
WantedWord wanted_word(const ProgramText& program, std::span<const std::string> words);

/// The place of a command that is offered values of a kind, by the placeholder of a positional argument or
/// the flag of an option. For tests: each must exist.
struct WordPlace {
  std::string_view command;
  std::string_view name;
  WordKind kind;
  std::string_view fixed = {};
};
std::span<const WordPlace> word_places();

}  // namespace praxis::cli

#include "cli/tree_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/hints.hpp"
#include "cli/console.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

struct CommandName {
  std::string name;
  CommandVerb verb;
  bool takes_text;
};
const std::array<CommandName, 11> kCommands{{{"stop", CommandVerb::kInterrupt, false},
                                             {"pause", CommandVerb::kPause, false},
                                             {"unpause", CommandVerb::kUnpause, false},
                                             {"steer", CommandVerb::kSteer, true},
                                             {"enqueue", CommandVerb::kEnqueue, true},
                                             {"annotate", CommandVerb::kAnnotate, true},
                                             {"modify", CommandVerb::kModify, true},
                                             {"withdraw", CommandVerb::kWithdraw, true},
                                             {"move", CommandVerb::kMove, true},
                                             {"compact", CommandVerb::kCompact, false},
                                             {"delete", CommandVerb::kDelete, false}}};

std::unexpected<Error> mistake(std::string message) {
  return fail(app::usage_error(std::move(message), "praxis tree --help"));
}

std::unexpected<Error> unknown_command(const TreeWords& words) {
  if (words.first == "resume") {
    return mistake(fmt::format(
        "to undo a pause, type \"praxis tree unpause {0}\"; \"praxis resume\" continues a run", words.node));
  }
  std::vector<std::string> names;
  for (const CommandName& command : kCommands) names.push_back(command.name);
  const auto nearest = closest(words.first, names);
  return mistake(fmt::format("unknown command \"{}\"{}", words.first,
                             nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""));
}

/// The verb of a command with its text, both checked.
Result<std::pair<CommandVerb, std::string>> checked_verb(const std::string& name, const std::string& text) {
  const auto command = std::ranges::find(kCommands, name, &CommandName::name);
  if (command == kCommands.end()) return unknown_command({name, "NODE", {}, {}});
  if (command->takes_text && text.empty()) return mistake(fmt::format("{} needs TEXT after the node", name));
  if (!command->takes_text && !text.empty()) return mistake(fmt::format("{} accepts no TEXT", name));
  return std::pair(command->verb, text);
}

}  // namespace

bool is_tree_command(const std::string& word) {
  return std::ranges::find(kCommands, word, &CommandName::name) != kCommands.end();
}

Result<Invocation> tree_command(TreeOptions tree, const TreeWords& words) {
  const auto command = std::ranges::find(kCommands, words.first, &CommandName::name);
  if (command == kCommands.end() && !words.node.empty()) return unknown_command(words);
  if (command == kCommands.end()) {
    if (!words.further.empty()) return mistake("--and belongs to a command, such as steer");
    tree.root = words.first;
    return tree;
  }
  if (words.node.empty()) return mistake(fmt::format("{} needs a node: give its id", words.first));
  const auto checked = checked_verb(words.first, words.text);
  if (!checked) return fail(checked.error());
  if (tree.watch || tree.all)
    return mistake(fmt::format("{} does not support --watch and --all", words.first));
  TreeCommandOptions options{tree.place, words.first, command->verb, words.node,
                             words.text, {},          tree.json,     tree.server};
  for (const std::string& word : words.further) {
    const auto space = word.find(' ');
    auto verb = checked_verb(word.substr(0, space), space == std::string::npos ? "" : word.substr(space + 1));
    if (!verb) return fail(verb.error());
    options.further.push_back(*std::move(verb));
  }
  return options;
}

}  // namespace praxis::cli

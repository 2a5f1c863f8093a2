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
const std::array<CommandName, 8> kCommands{{{"stop", CommandVerb::kInterrupt, false},
                                            {"pause", CommandVerb::kPause, false},
                                            {"unpause", CommandVerb::kUnpause, false},
                                            {"steer", CommandVerb::kSteer, true},
                                            {"enqueue", CommandVerb::kEnqueue, true},
                                            {"annotate", CommandVerb::kAnnotate, true},
                                            {"modify", CommandVerb::kModify, true},
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

}  // namespace

Result<Invocation> tree_command(TreeOptions tree, const TreeWords& words) {
  const auto command = std::ranges::find(kCommands, words.first, &CommandName::name);
  if (command == kCommands.end() && !words.node.empty()) return unknown_command(words);
  if (command == kCommands.end()) {
    tree.root = words.first;
    return tree;
  }
  if (words.node.empty()) return mistake(fmt::format("{} needs a node: give its id", words.first));
  if (command->takes_text && words.text.empty())
    return mistake(fmt::format("{} needs TEXT after the node", words.first));
  if (!command->takes_text && !words.text.empty())
    return mistake(fmt::format("{} accepts no TEXT", words.first));
  if (tree.watch || tree.all)
    return mistake(fmt::format("{} does not support --watch and --all", words.first));
  return TreeCommandOptions{tree.place, words.first, command->verb, words.node, words.text, tree.json};
}

}  // namespace praxis::cli

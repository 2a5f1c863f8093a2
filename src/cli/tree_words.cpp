#include "cli/tree_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/console.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis::cli {
namespace {

struct OrderName {
  std::string name;
  Intervention kind;
  bool takes_text;
};
const std::array<OrderName, 7> kOrders{{{"stop", Intervention::kInterrupt, false},
                                        {"pause", Intervention::kPause, false},
                                        {"resume", Intervention::kResume, false},
                                        {"steer", Intervention::kSteer, true},
                                        {"annotate", Intervention::kAnnotate, true},
                                        {"modify", Intervention::kModify, true},
                                        {"delete", Intervention::kDelete, false}}};

std::unexpected<Error> mistake(std::string message) {
  return fail(usage_error(std::move(message), "praxis tree --help"));
}

std::unexpected<Error> unknown_order(const std::string& word) {
  std::vector<std::string> names;
  for (const OrderName& order : kOrders) names.push_back(order.name);
  const auto nearest = closest(word, names);
  return mistake(fmt::format("there is no order \"{}\"{}", word,
                             nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : ""));
}

}  // namespace

Result<Command> tree_command(TreeOptions tree, const TreeWords& words) {
  const auto order = std::ranges::find(kOrders, words.first, &OrderName::name);
  if (order == kOrders.end() && !words.node.empty()) return unknown_order(words.first);
  if (order == kOrders.end()) {
    tree.root = words.first;
    return tree;
  }
  if (words.node.empty()) return mistake(fmt::format("whom to {}? Name a node of the tree", words.first));
  if (order->takes_text && words.text.empty())
    return mistake(fmt::format("{} what? Give a text after the node", words.first));
  if (!order->takes_text && !words.text.empty()) return mistake(fmt::format("{} takes no text", words.first));
  if (tree.watch || tree.all) return mistake(fmt::format("{} takes neither --watch nor --all", words.first));
  return OrderOptions{tree.place, words.first, order->kind, words.node, words.text, tree.json};
}

}  // namespace praxis::cli

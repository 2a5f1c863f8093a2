#include "praxis/domain/rights.hpp"

#include <algorithm>
#include <array>

#include "domain/enum_names.hpp"

namespace praxis {
namespace {

constexpr Names<Right, 10> kRightNames{{{Right::kRun, "run"},
                                        {Right::kIntervene, "intervene"},
                                        {Right::kApprove, "approve"},
                                        {Right::kReadHistory, "read_history"},
                                        {Right::kReadMemory, "read_memory"},
                                        {Right::kChangePrompts, "change_prompts"},
                                        {Right::kRegisterTools, "register_tools"},
                                        {Right::kCreateAgents, "create_agents"},
                                        {Right::kReadConfiguration, "read_configuration"},
                                        {Right::kAdminister, "administer"}}};

constexpr auto kAllRights = [] {
  std::array<Right, kRightNames.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRightNames[i].first;
  return all;
}();

}  // namespace

std::string_view to_string(Right right) { return name_of(kRightNames, right); }
std::optional<Right> right_from(std::string_view name) { return value_of(kRightNames, name); }
std::span<const Right> all_rights() { return kAllRights; }

std::string_view description_of(Right right) {
  switch (right) {
    case Right::kRun:
      return "start runs, turns and branches, and see which agents there are";
    case Right::kIntervene:
      return "steer, pause, interrupt, rewind and delete";
    case Right::kApprove:
      return "decide steps that wait";
    case Right::kReadHistory:
      return "read runs, their events, files, trees and usage";
    case Right::kReadMemory:
      return "read what agents remember";
    case Right::kChangePrompts:
      return "read prompts and move their labels";
    case Right::kRegisterTools:
      return "bring tools of its own with a request";
    case Right::kCreateAgents:
      return "start a branch with other instructions than its agent has";
    case Right::kReadConfiguration:
      return "read agents, rules, settings, checks and metrics";
    case Right::kAdminister:
      return "save rules that hold from then on, and raise limits of agents";
  }
  return {};
}

Rights Rights::all() {
  Rights all;
  for (const Right right : kAllRights) all.add(right);
  return all;
}

std::vector<std::string> Rights::names() const {
  std::vector<std::string> names;
  for (const Right right : kAllRights) {
    if (has(right)) names.emplace_back(to_string(right));
  }
  return names;
}

std::span<const AccessRole> built_in_roles() {
  using enum Right;
  static const std::array<AccessRole, 6> kRoles{
      AccessRole{"admin", Rights::all()},
      AccessRole{"developer",
                 {kRun, kIntervene, kApprove, kReadHistory, kReadMemory, kChangePrompts, kRegisterTools,
                  kCreateAgents, kReadConfiguration}},
      AccessRole{"operator", {kRun, kIntervene, kReadHistory, kReadConfiguration}},
      AccessRole{"approver", {kApprove, kReadHistory}},
      AccessRole{"user", {kRun, kIntervene, kApprove, kReadHistory, kRegisterTools, kReadConfiguration}},
      AccessRole{"viewer", {kReadHistory}}};
  return kRoles;
}

const AccessRole* find_role(std::span<const AccessRole> roles, std::string_view name) {
  const auto found = std::ranges::find(roles, name, &AccessRole::name);
  return found == roles.end() ? nullptr : &*found;
}

}  // namespace praxis

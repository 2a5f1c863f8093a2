// What a principal of a server may do. A right is one kind of act; a role is a named set of rights. Plain
// values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace praxis {

/// One kind of act. Its name is the same in files, in JSON and on the command line.
enum class Right : std::uint8_t {
  kRun,                ///< `run`: start runs, turns and branches, and see which agents there are
  kIntervene,          ///< `intervene`: steer, pause, interrupt, rewind and delete
  kApprove,            ///< `approve`: decide steps that wait
  kReadHistory,        ///< `read_history`: read runs, their events, files, trees and usage
  kReadMemory,         ///< `read_memory`: read what agents remember
  kChangePrompts,      ///< `change_prompts`: read prompts and move their labels
  kRegisterTools,      ///< `register_tools`: bring tools of its own with a request
  kCreateAgents,       ///< `create_agents`: start a branch with other instructions than its agent has
  kReadConfiguration,  ///< `read_configuration`: read agents, rules, settings, checks and metrics
  kAdminister,         ///< `administer`: save rules that hold from then on, and raise limits of agents
};
std::string_view to_string(Right right);
std::optional<Right> right_from(std::string_view name);
/// All rights, in the order of the enumeration.
std::span<const Right> all_rights();
/// What the right allows, as help shows it.
std::string_view description_of(Right right);

/// A set of rights.
class Rights {
 public:
  constexpr Rights() = default;
  constexpr Rights(std::initializer_list<Right> rights) {
    for (const Right right : rights) add(right);
  }
  static Rights all();

  constexpr void add(Right right) { bits_ |= bit(right); }
  constexpr bool has(Right right) const { return (bits_ & bit(right)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  /// Their names, in the order of the enumeration.
  std::vector<std::string> names() const;
  bool operator==(const Rights&) const = default;

 private:
  static constexpr std::uint32_t bit(Right right) { return 1U << static_cast<unsigned>(right); }
  std::uint32_t bits_ = 0;
};

/// A named set of rights.
struct AccessRole {
  std::string name;
  Rights rights;
};
/// `admin`, `developer`, `operator`, `approver`, `user`, `viewer`.
std::span<const AccessRole> built_in_roles();
/// The role of a name; null: there is no such role.
const AccessRole* find_role(std::span<const AccessRole> roles, std::string_view name);

}  // namespace praxis
#pragma GCC visibility pop

// The author of a command or approval and the surface that it came through: recorded with each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace praxis {

/// Where an author acted.
enum class Surface : std::uint8_t {
  kUnknown,  ///< a record of version 4 or older does not say
  kLibrary,  ///< a program, through a handle such as `Session`
  kCli,      ///< a human, at the command line
  kServer,   ///< a human or program, through a server
  kHandler,  ///< the approval handler of a program
  kPolicy,   ///< policy rules
  kHook,     ///< a hook of the host
  kRuntime,  ///< Praxis itself: a deadline, a budget, an expired step
};
std::string_view to_string(Surface surface);
std::optional<Surface> surface_from(std::string_view name);

struct Author {
  std::string principal = {};  ///< name of the human or component; empty: the program itself
  Surface surface = Surface::kUnknown;
  std::string role = {};  ///< of the principal when it acted, at a server; empty: no role
  bool operator==(const Author&) const = default;
};

/// The default author of approvals that a program makes through a handle: the human in front of it.
inline Author person_by_library() { return {"person", Surface::kLibrary}; }
inline Author by_library() { return {{}, Surface::kLibrary}; }
inline Author by_runtime() { return {{}, Surface::kRuntime}; }
inline Author by_hook() { return {"hook", Surface::kHook}; }
inline Author by_policy() { return {"policy", Surface::kPolicy}; }

}  // namespace praxis
#pragma GCC visibility pop

#include "cli/author.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <string>

namespace praxis::cli {

Author cli_author() {
  const uid_t user = getuid();
  std::array<char, 16 * 1024> buffer;
  passwd entry{};
  passwd* found = nullptr;
  const int code = getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  if (code != 0 || found == nullptr) return {"uid " + std::to_string(user), Surface::kCli};
  return {entry.pw_name, Surface::kCli};
}

}  // namespace praxis::cli

// Commands of one of two users: the one that runs the tests and, where that is root, an ordinary one. Each
// has a home folder apart from the folder in which the commands run.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"

namespace praxis::testing {

enum class TestUser : bool { kCurrent, kOrdinary };
inline constexpr uid_t kOrdinaryUid = 65534;

/// A folder `clone` (the working folder) and a folder `home`, both owned by the user.
class UserCommandLine : public CommandLine, public ::testing::WithParamInterface<TestUser> {
 protected:
  UserCommandLine() {
    for (const char* name : {"clone/.git", "home/.config/praxis", "home/.local/state"})
      std::filesystem::create_directories(folder_ / name);
    options_.folder = clone();
    options_.env["HOME"] = home();
    options_.env["XDG_CONFIG_HOME"] = "";
    options_.env["XDG_STATE_HOME"] = "";
    options_.env["PRAXIS_MODEL"] = "";
  }
  void SetUp() override {
    if (is_ordinary() && geteuid() != 0) PRAXIS_MISSING_PART("needs root, to act as an ordinary user");
    give_all();
    if (as_user({PRAXIS_BINARY_DIR "/praxis", "--version"}).status != 0)
      PRAXIS_MISSING_PART("the user cannot start " PRAXIS_BINARY_DIR "/praxis");
  }

  std::string clone() const { return folder_ / "clone"; }
  std::string home() const { return folder_ / "home"; }
  static bool is_ordinary() { return GetParam() == TestUser::kOrdinary; }
  static uid_t user() { return is_ordinary() ? kOrdinaryUid : geteuid(); }

  /// Makes the user the owner of everything in the folder; what others must own is given to them afterwards.
  void give_all() const {
    give(folder_);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) give(entry.path());
  }
  static void give(const std::filesystem::path& path, uid_t owner = user()) {
    if (geteuid() == 0 && lchown(path.c_str(), owner, owner) != 0) throw std::runtime_error("no chown");
  }
  /// Writes a file of the user's, with the mode 0644.
  std::filesystem::path own_file(const std::string& name, const std::string& text) const {
    std::filesystem::path path = file(name, text);
    std::filesystem::permissions(path, std::filesystem::perms(0644));
    for (auto each = path; each != folder_; each = each.parent_path()) give(each);
    return path;
  }

  CommandResult as_user(std::vector<std::string> words) const {
    if (is_ordinary()) {
      words.insert(words.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"});
    }
    return run(words, options_);
  }
  CommandResult user_praxis(const std::vector<std::string>& arguments) const {
    return as_user(command(arguments));
  }
  /// Trusts the project of the clone as it stands.
  CommandResult trust_all() const {
    const std::string digest = json_string(user_praxis({"trust", "show", "--json"}).last_line(), "digest");
    return user_praxis({"trust", "accept", "--digest", digest});
  }
};

inline const auto kBothUsers = ::testing::Values(TestUser::kCurrent, TestUser::kOrdinary);
inline std::string user_name(const ::testing::TestParamInfo<TestUser>& user) {
  return user.param == TestUser::kOrdinary ? "Ordinary" : "Current";
}

}  // namespace praxis::testing

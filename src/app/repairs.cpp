#include "app/repairs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/own_folder.hpp"
#include "base/file_descriptor.hpp"
#include "base/private_folders.hpp"
#include "praxis/journal/postgres_journal.hpp"
#include "praxis/models/catalog.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnOnly = "can be written by you only now; check its content";
constexpr const char* kPrivate = "is yours only now";
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH, kOthers = S_IRWXG | S_IRWXO;

/// Collects repairs.
class Repairs {
 public:
  void create(const fs::path& folder) {
    std::error_code failed;
    if (folder.empty() || fs::exists(folder, failed)) return;
    const int error = make_private_folders(folder);
    add(folder, "created", error);
  }

  /// Takes these rights of a file or folder away.
  void take(const fs::path& path, mode_t rights, const std::string& done) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about = {};
    if (file.get() < 0 || fstat(file.get(), &about) != 0) return;
    const bool is_ours = about.st_uid == geteuid() && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    if (!is_ours || (about.st_mode & rights) == 0) return;
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", about.st_mode & 07777U);
    const int error = fchmod(file.get(), about.st_mode & 07777U & ~rights) == 0 ? 0 : errno;
    add(path, done + " (its mode was " + mode.data() + ')', error);
  }

  /// The same for the files of a folder that end so.
  void take_all(const fs::path& folder, const std::string& ending, mode_t rights, const std::string& done) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
      if (entry.path().extension() == ending) take(entry.path(), rights, done);
    }
  }

  std::vector<Repair> all;

 private:
  void add(const fs::path& path, const std::string& done, int error) {
    all.push_back(error == 0 ? Repair{path.string(), done, ""}
                             : Repair{path.string(), "", std::strerror(error)});
  }
};

}  // namespace

std::vector<Repair> repair_own_files() {
  Repairs repairs;
  const fs::path config = own_folder("XDG_CONFIG_HOME", ".config");
  const fs::path state = own_folder("XDG_STATE_HOME", ".local/state");
  if (!config.empty()) {
    repairs.create(config / "agents");
    for (const char* folder : {"", "agents", "profiles"}) {
      repairs.take(config / folder, kOthersWrite, kOwnOnly);
      repairs.take_all(config / folder, ".toml", kOthersWrite, kOwnOnly);
    }
    repairs.take(config / "allowed.jsonl", kOthersWrite, kOwnOnly);
  }
  if (!state.empty()) {
    repairs.create(state);
    repairs.take(state, kOthers, kPrivate);
    repairs.take(state / "server-token", kOthers, kPrivate);
    repairs.take(state / "mcp-logins.jsonl", kOthers, kPrivate);
  }
  return std::move(repairs.all);
}

std::vector<Repair> repair_configured_files(const Workspace& workspace) {
  Repairs repairs;
  if (workspace.keeps_runs() && !is_postgres_address(workspace.journal))
    repairs.create(fs::absolute(workspace.journal).parent_path());
  const auto catalog = open_catalog(workspace);
  for (const std::string& id : catalog ? (*catalog)->providers() : std::vector<std::string>()) {
    const std::string& file = (*catalog)->provider(id)->key_file;
    if (!file.empty()) repairs.take(file, kOthers, kPrivate);
  }
  return std::move(repairs.all);
}

}  // namespace praxis::app

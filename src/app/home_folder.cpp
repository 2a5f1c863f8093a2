#include "app/home_folder.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <vector>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

/// The home folders of this user, with and without the links on the way to them.
std::vector<fs::path> homes() {
  std::vector<fs::path> all{environment_variable("HOME")};
  std::array<char, 16 * 1024> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    all.emplace_back(found->pw_dir);
  std::erase_if(all, [](const fs::path& path) { return !path.is_absolute(); });
  for (std::size_t i = 0, named = all.size(); i < named; ++i) {
    std::error_code error;
    if (fs::path real = fs::weakly_canonical(all[i], error); !error) all.push_back(std::move(real));
  }
  return all;
}

}  // namespace

bool holds_home(const std::string& folder) {
  std::error_code missing;
  for (const fs::path& home : homes()) {
    for (fs::path each = home; !each.empty(); each = each.parent_path()) {
      if (fs::equivalent(each, folder, missing)) return true;
      if (each == each.root_path()) break;
    }
  }
  return false;
}

void HomeReach::watch(AgentFileOptions& options) {
  options.on_folder = [this](const std::string& folder) {
    if (folder_.empty() && holds_home(folder)) folder_ = folder;
  };
}

Status HomeReach::check(bool accepted_before, const HomeAcceptance& accept) const {
  if (!reached() || accepted_before) return {};
  if (accept) return accept(folder_);
  return fail(usage_error("the agent's tools would reach your home folder: " + in_quotes(folder_)));
}

}  // namespace praxis::app

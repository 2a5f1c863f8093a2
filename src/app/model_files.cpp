#include "app/model_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/regular_file.hpp"
#include "models/recording/recorder.hpp"

namespace praxis::app {
namespace {

constexpr std::string_view kScript = "script:";
constexpr std::array kPrefixes{kScript, std::string_view("cassette:"), std::string_view("cassette-check:")};

/// The models of a route. The name of a script that is the whole model may contain the separator.
std::vector<std::string_view> members(std::string_view model) {
  std::vector<std::string_view> all;
  while (!(all.empty() && model.starts_with(kScript)) && model.contains('|')) {
    const std::size_t bar = model.find('|');
    all.push_back(model.substr(0, bar));
    model.remove_prefix(bar + 1);
  }
  all.push_back(model);
  return all;
}

/// The length of the prefix that makes `model` a script or cassette; 0 for other models.
std::size_t prefix_of(std::string_view model) {
  const auto found =
      std::ranges::find_if(kPrefixes, [&](std::string_view prefix) { return model.starts_with(prefix); });
  return found == kPrefixes.end() ? 0 : found->size();
}

}  // namespace

std::vector<std::string> model_files(std::string_view model) {
  std::vector<std::string> files;
  for (const std::string_view member : members(model)) {
    const std::size_t prefix = prefix_of(member);
    if (prefix == 0) continue;
    const std::filesystem::path path(member.substr(prefix));
    files.push_back(member.starts_with(kScript) ? path.string() : (path / kExchangesFile).string());
  }
  return files;
}

Result<std::string> ModelFileReader::read(const std::string& path, std::size_t max_bytes) {
  const std::string key = std::filesystem::absolute(path).lexically_normal().string();
  const std::lock_guard lock(mutex_);
  const auto known = read_.find(key);
  if (known != read_.end()) return known->second;
  return read_.emplace(key, read_regular_file(path, max_bytes)).first->second;
}

std::string with_model_paths(std::string_view model,
                             const std::function<std::string(const std::string&)>& rewrite) {
  std::string all;
  for (const std::string_view member : members(model)) {
    const std::size_t prefix = prefix_of(member);
    if (!all.empty()) all += '|';
    all += member.substr(0, prefix);
    all += prefix == 0 ? std::string(member) : rewrite(std::string(member.substr(prefix)));
  }
  return all;
}

}  // namespace praxis::app

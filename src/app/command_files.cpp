#include "app/command_files.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/own_folder.hpp"
#include "app/setting_key.hpp"
#include "base/path_below.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBetweenWords = " \t\n\"'`;|&()<>{}$=,";  ///< in a line for the shell

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

/// A folder's path, without a slash at its end.
std::string without_end(std::string path) {
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::vector<std::string> parts_of(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(between));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

/// Adds the files that a word can mean.
void add_word(std::string word, const fs::path& folder, std::vector<std::string>& files) {
  if (word.starts_with("~/")) word.replace(0, 1, environment_variable("HOME"));
  if (fs::path path = (folder / word).lexically_normal(); is_there(path)) files.push_back(std::move(path));
  if (word.contains('/')) return;
  for (const std::string& place : parts_of(environment_variable("PATH"), ":")) {
    fs::path program = (folder / place / word).lexically_normal();
    if (!is_there(program)) continue;
    files.push_back(std::move(program));
    return;
  }
}

/// Adds the files of a server's command, but for those that it was given to write: its data.
void add_server(const Json& table, const fs::path& without_folder, const fs::path& start,
                std::vector<std::string>& files) {
  const std::string folder = json_string(table, "folder");
  const std::vector<std::string> given = texts_of(json_at(table, "write"));
  const auto is_given = [&](const std::string& file) {
    return std::ranges::any_of(given, [&](const std::string& path) {
      return !path_below(without_end((start / path).lexically_normal()), file).empty();
    });
  };
  std::ranges::remove_copy_if(
      files_of_command(texts_of(json_at(table, "command")), folder.empty() ? without_folder : start / folder),
      std::back_inserter(files), is_given);
}

}  // namespace

std::vector<std::string> files_of_command(const std::vector<std::string>& words, const fs::path& folder) {
  std::vector<std::string> files;
  const std::string first = words.empty() ? "" : words.front();
  if (first.contains('/') && parts_of(first, kBetweenWords).front() == first)
    files.push_back((folder / first).lexically_normal());
  for (const std::string& word : words) {
    add_word(word, folder, files);
    for (std::string& part : parts_of(word, kBetweenWords)) add_word(std::move(part), folder, files);
  }
  std::ranges::sort(files);
  const auto repeated = std::ranges::unique(files);
  files.erase(repeated.begin(), repeated.end());
  return files;
}

std::vector<std::string> files_of_servers(const Json& agent, const fs::path& start) {
  std::vector<std::string> files;
  // A program without a folder runs in one of the sandbox, where no path of ours is relative.
  for (const auto& [kind, without_folder] : {std::pair{"mcp", fs::path("/")}, {"acp", start}}) {
    const JsonObject* const tables = json_at(json_at(agent, "tools"), kind).if_object();
    if (tables == nullptr) continue;
    for (const auto& each : *tables) add_server(each.value(), without_folder, start, files);
  }
  return files;
}

}  // namespace praxis::app

#include "app/command_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/mcp_entry.hpp"
#include "app/own_folder.hpp"
#include "app/setting_key.hpp"
#include "app/source_file.hpp"
#include "base/path_below.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostServersFile = std::size_t{1} << 20;
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

/// The folders of PATH. An empty one is the current folder (execvp(3)).
std::vector<std::string> places_in_path() {
  std::vector<std::string> places;
  std::string text = environment_variable("PATH");
  if (text.empty()) return places;
  for (const auto place : std::views::split(text, ':'))
    places.push_back(place.empty() ? "." : std::string(place.begin(), place.end()));
  return places;
}

/// Whether it is run when it is found in PATH.
bool is_program(const fs::path& path) { return is_there(path) && access(path.c_str(), X_OK) == 0; }

/// Adds the files that a word can mean. For a program in PATH also the places where it is looked for before:
/// it would be found there as soon as it exists.
void add_word(std::string word, const fs::path& folder, std::vector<std::string>& files) {
  if (word.starts_with("~/")) word.replace(0, 1, environment_variable("HOME"));
  if (fs::path path = (folder / word).lexically_normal(); is_there(path)) files.push_back(std::move(path));
  if (word.contains('/')) return;
  std::vector<std::string> before;
  for (const std::string& place : places_in_path()) {
    const fs::path at = folder / place;
    if (is_program(at / word)) {
      std::ranges::move(before, std::back_inserter(files));
      files.push_back((at / word).lexically_normal());
      return;
    }
    // Where the folder is now: a link to it is often at the top of a project, as `.venv`, and cannot be
    // fixed.
    std::error_code failed;
    if (const fs::path real = fs::canonical(at, failed); !failed && fs::is_directory(real, failed))
      before.push_back(real / word);
  }
}

/// The files of a server's command, but for those that it was given to write: its data.
std::vector<std::string> files_of_server(const Json& table, const std::vector<std::string>& command,
                                         const fs::path& without_folder, const fs::path& start) {
  const std::string folder = json_string(table, "folder");
  const std::vector<std::string> given = texts_of(json_at(table, "write"));
  std::vector<std::string> files =
      files_of_command(command, folder.empty() ? without_folder : start / folder);
  std::erase_if(files, [&](const std::string& file) {
    return std::ranges::any_of(given, [&](const std::string& path) {
      return !path_below(without_end((start / path).lexically_normal()), file).empty();
    });
  });
  return files;
}

/// The command of a table, or of the file with `mcpServers` that it names; empty if that cannot be read.
std::vector<std::string> command_of(const std::string& name, const Json& table,
                                    const AgentFileOptions& options, const fs::path& home) {
  const std::string from = json_string(table, "from");
  if (from.empty()) return texts_of(json_at(table, "command"));
  const auto text = read_source(options, (home / from).lexically_normal(), kMostServersFile);
  if (!text) return {};
  const auto entry = read_mcp_entry(*text, name, [](const std::string& variable) {
    return std::optional<std::string>(environment_variable(variable));
  });
  return entry ? entry->command : std::vector<std::string>();
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

std::vector<std::string> server_files(const Json& agent, const AgentFileOptions& options,
                                      const fs::path& start, const fs::path& home) {
  std::vector<std::string> files;
  // A program without a folder runs in one of the sandbox, where no path of ours is relative.
  for (const auto& [kind, without_folder] : {std::pair{"mcp", fs::path("/")}, {"acp", start}}) {
    const JsonObject* const tables = json_at(json_at(agent, "tools"), kind).if_object();
    if (tables == nullptr) continue;
    for (const auto& each : *tables) {
      const std::vector<std::string> command = command_of(each.key(), each.value(), options, home);
      std::ranges::move(files_of_server(each.value(), command, without_folder, start),
                        std::back_inserter(files));
    }
  }
  return files;
}

}  // namespace praxis::app

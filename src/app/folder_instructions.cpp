#include "app/folder_instructions.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "app/home_folder.hpp"
#include "app/own_folder.hpp"
#include "app/own_lines.hpp"
#include "app/owned_file.hpp"
#include "app/plain_text.hpp"
#include "app/trust.hpp"
#include "base/open_beneath.hpp"
#include "base/regular_file.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kInstructionNames{"AGENTS.md",
                                                       "CLAUDE.md"};  ///< the first that exists counts
constexpr std::size_t kMaxInstructionFile = 256 * 1024;
constexpr std::size_t kMaxInstructionLevels = 64;  ///< folders above the working folder
constexpr const char* kFolderEntry = "folder_instructions";
constexpr const char* kFolderHeading =
    "# Instructions of this folder\n\nThese files say how to work here. Where they differ, the first one "
    "counts.\n";

/// Reads the file `name` of an open folder into `file`; false if the folder lacks it, or has a link in its
/// place.
bool read_instruction_file(int folder, const char* name, InstructionFile& file) {
  auto opened = open_beneath(folder, name, O_RDONLY);
  if (!opened) {
    if (opened.error() == ENOENT || opened.error() == ELOOP) return false;
    file.problem =
        in_quotes(file.path) + " cannot be read: " + std::generic_category().message(opened.error());
    return true;
  }
  const auto regular = regular_file_of(std::move(*opened), file.path);
  if (!regular) return file.problem = regular.error().message, true;
  if (file.problem = why_unsafe(regular->about, file.path); !file.problem.empty()) return true;
  auto text = read_whole(*regular, file.path, kMaxInstructionFile);
  if (!text) return file.problem = text.error().message, true;
  file.text = *std::move(text);
  if (!is_valid_utf8(file.text)) file.problem = in_quotes(file.path) + " is not UTF-8";
  return true;
}

/// The first of the names that the folder has.
std::optional<InstructionFile> file_of(const fs::path& folder) {
  const FileDescriptor opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return std::nullopt;
  for (const char* name : kInstructionNames) {
    InstructionFile file;
    file.path = (folder / name).string();
    if (read_instruction_file(opened.get(), name, file)) return file;
  }
  return std::nullopt;
}

void compare(InstructionFile& file, const std::vector<TrustedProject>& trusted) {
  const auto entry = std::ranges::find(trusted, file.path, &TrustedProject::root);
  if (entry == trusted.end() || !file.problem.empty()) return;
  file.trusted = entry->digest == file.digest();
  file.changed = !file.trusted;
}

std::vector<TrustedProject> all_trusted() {
  const std::string folder = state_folder();
  if (folder.empty()) return {};
  return TrustedProjects(folder).all().value_or(std::vector<TrustedProject>{});
}

/// The digest of each file, by path.
JsonObject files_json(const FolderInstructions& found) {
  JsonObject files;
  for (const auto& [path, digest] : found.files) files[path] = digest;
  return files;
}

/// The beginning of the text within `room` bytes, at the end of a line.
std::string_view whole_lines(std::string_view text, std::size_t room) {
  if (text.size() <= room) return text;
  const std::size_t end = text.rfind('\n', room);
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

std::string InstructionFile::digest() const { return digest_of(text).hex(); }

bool is_instruction_file(const std::string& path) {
  return std::ranges::find(kInstructionNames, fs::path(path).filename().string()) != kInstructionNames.end();
}

InstructionFile instruction_file_at(const std::string& path) {
  InstructionFile file;
  file.path = path;
  const FileDescriptor folder(open(fs::path(path).parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string name = fs::path(path).filename().string();
  if (folder.get() < 0 || !read_instruction_file(folder.get(), name.c_str(), file))
    file.problem = in_quotes(path) + " is gone";
  compare(file, all_trusted());
  return file;
}

std::vector<InstructionFile> find_instruction_files(const std::string& start, const std::string& home) {
  std::error_code ignored;
  const fs::path first = fs::weakly_canonical(start, ignored);
  const fs::path last = home.empty() ? fs::path() : fs::weakly_canonical(home, ignored);
  if (holds_home(first.string())) return {};
  std::vector<InstructionFile> files;
  std::size_t of_start = 0;
  fs::path folder = first;
  for (std::size_t level = 0; level < kMaxInstructionLevels && folder != last;
       ++level, folder = folder.parent_path()) {
    if (auto file = file_of(folder)) {
      file->name = fs::path(file->path).lexically_relative(first).string();
      files.push_back(*std::move(file));
    }
    if (level == 0) of_start = files.size();
    if (fs::symlink_status(folder / ".git", ignored).type() > fs::file_type::not_found) return files;
    if (folder == folder.root_path()) break;
  }
  files.resize(of_start);  // outside of a repository, a parent folder such as /tmp may belong to any user
  return files;
}

std::vector<InstructionFile> current_instruction_files() {
  std::error_code ignored;
  auto files = find_instruction_files(fs::current_path(ignored).string(), environment_variable("HOME"));
  if (files.empty()) return files;
  const auto trusted = all_trusted();
  for (InstructionFile& file : files) compare(file, trusted);
  return files;
}

FolderInstructions folder_instructions(const std::vector<InstructionFile>& files) {
  FolderInstructions found;
  std::size_t room = kMaxFolderInstructions;
  const auto warn = [&](const InstructionFile& file, const std::string& why) {
    found.warnings.push_back("the instructions in " + exact(in_quotes(file.name)) + ' ' + why);
  };
  for (const InstructionFile& file : files) {
    if (!file.problem.empty()) {
      warn(file, "are not used: " + file.problem);
    } else if (!file.trusted) {
      warn(file, std::string("are not used: ") +
                     (file.changed ? "they changed since you trusted them" : "you have not trusted them") +
                     "; `praxis trust` shows them");
    } else {
      const std::string_view text = whole_lines(file.text, room);
      if (text.size() < file.text.size())
        warn(file, "are longer than what all files together may have (" +
                       std::to_string(kMaxFolderInstructions) + " bytes): the model gets the first " +
                       std::to_string(text.size()) + " of " + std::to_string(file.text.size()) + " bytes");
      room -= text.size();
      found.files[file.path] = file.digest();
      if (text.empty()) continue;
      if (found.text.empty()) found.text = kFolderHeading;
      found.text += "\n## " + file.name + "\n\n" + std::string(text);
      if (!text.ends_with('\n')) found.text += '\n';
    }
  }
  return found;
}

SplitInstructions split_instructions(const AgentSpec& spec) {
  const FolderInstructions found = recorded_folder_instructions(spec);
  SplitInstructions split{spec.instructions, {}};
  if (found.text.empty() || !spec.instructions.ends_with(found.text)) return split;
  split.own.resize(split.own.size() - found.text.size());
  const fs::path folder = json_string(spec.metadata, "folder");
  std::vector<std::string> paths;
  for (const auto& [path, digest] : found.files) paths.push_back(path);
  // Each is in a folder above that of the one before it.
  std::ranges::sort(paths, std::greater(), [](const std::string& path) { return path.size(); });
  std::size_t begin = 0;
  for (const std::string& path : paths) {
    const std::string name = fs::path(path).lexically_relative(folder).string();
    const std::size_t at = found.text.find("\n## " + name + "\n\n", begin);
    if (at == std::string::npos) continue;  // another file took all the room
    if (!split.files.empty()) split.files.back().text = found.text.substr(begin, at - begin);
    if (split.files.empty()) split.own += found.text.substr(0, at);
    split.files.push_back({exact(name), ""});
    begin = at;
  }
  if (split.files.empty()) return {spec.instructions, {}};
  split.files.back().text = found.text.substr(begin);
  return split;
}

void FolderInstructionsOfRun::give_to(AgentFileOptions& options) {
  options.folder_instructions = [this] {
    if (!used_) found_ = folder_instructions(current_instruction_files());
    if (std::exchange(used_, true)) found_.warnings.clear();  // once
    return found_;
  };
}

void FolderInstructionsOfRun::note(Agent& agent) const {
  const Json& given = agent.spec().metadata;
  if (!used_ || found_.files.empty() || !json_at(given, kFolderEntry).is_null()) return;
  JsonObject metadata = given.is_object() ? given.get_object() : JsonObject{};
  metadata[kFolderEntry] = JsonObject{{"files", files_json(found_)}, {"text", found_.text}};
  agent.metadata(std::move(metadata));
}

Json with_folder_instructions(Json metadata, const FolderInstructions* found) {
  if (JsonObject* object = metadata.if_object()) object->erase(kFolderEntry);
  if (found == nullptr || found->files.empty()) return metadata;
  if (!metadata.is_object()) metadata = JsonObject{};
  metadata.get_object()[kFolderEntry] =
      JsonObject{{"files", files_json(*found)}, {"bytes", found->text.size()}};
  return metadata;
}

FolderInstructions recorded_folder_instructions(const AgentSpec& spec) {
  const Json& entry = json_at(spec.metadata, kFolderEntry);
  FolderInstructions found{json_string(entry, "text"), {}, {}};
  if (const auto bytes = static_cast<std::size_t>(json_int(entry, "bytes"));
      found.text.empty() && bytes <= spec.instructions.size())
    found.text = spec.instructions.substr(spec.instructions.size() - bytes);
  const auto* files = json_at(entry, "files").if_object();
  for (const auto& [path, digest] : files != nullptr ? *files : JsonObject{})
    found.files[std::string(path)] = to_plain_text(digest);
  return found;
}

}  // namespace praxis::app

#include "app/agent_instructions.hpp"

#include <cstddef>
#include <utility>

#include "app/folder_instructions.hpp"
#include "app/prompt_reference.hpp"
#include "app/source_file.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInstructions = 1024 * 1024;
constexpr const char* kInstructionsFile = "instructions_file";

}  // namespace

Result<AgentInstructions> instructions_of(
    const TomlDocument& document, const AgentFileOptions& options, const fs::path& home,
    const std::function<Status(const std::string& place, const std::string& path)>& check_file) {
  AgentInstructions made;
  auto prompted = prompted_instructions(document, options);
  if (!prompted) return fail(std::move(prompted.error()));
  const std::string file = json_string(document.json(), kInstructionsFile);
  made.text = *prompted ? (*prompted)->text : json_string(document.json(), "instructions");
  if (!*prompted && !file.empty()) {
    if (!made.text.empty())
      return document.mistake(kInstructionsFile,
                              "give either \"instructions\" or \"instructions_file\", not both");
    const std::string path = absolute_path(home / file);
    if (auto checked = check_file(kInstructionsFile, path); !checked) return fail(std::move(checked.error()));
    auto read = read_source(options, path, kMaxInstructions);
    if (!read) return document.mistake(kInstructionsFile, read.error().message);
    made.text = *std::move(read);
  }
  made.metadata = with_prompt(document.at("metadata"), *prompted ? (*prompted)->record : Json());
  if (!json_bool(document.json(), "folder_instructions") || !options.folder_instructions) {
    made.metadata = with_folder_instructions(std::move(made.metadata), nullptr);
    return made;
  }
  const FolderInstructions found = options.folder_instructions();
  if (options.warn) {
    for (const std::string& warning : found.warnings) options.warn(warning);
  }
  if (!found.text.empty()) made.text += (made.text.empty() ? "" : "\n\n") + found.text;
  for (const auto& [path, digest] : found.files) made.files.push_back(path);
  made.metadata = with_folder_instructions(std::move(made.metadata), &found);
  return made;
}

}  // namespace praxis::app

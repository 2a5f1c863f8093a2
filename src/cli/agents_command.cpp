// `agents`: lists the agents that can be used by name, shows one, and copies a preset.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/folder_instructions.hpp"
#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/plain_text.hpp"
#include "app/presets.hpp"
#include "app/toml_document.hpp"
#include "app/values.hpp"
#include "app/workspace.hpp"
#include "cli/commands.hpp"
#include "cli/place.hpp"

namespace praxis::cli {
namespace {

using AgentsVerb = AgentsOptions::Verb;

/// Where an agent comes from, for a list.
std::string origin_of(const app::Workspace& workspace, const std::string& name) {
  const auto choice = app::find_agent_file(workspace, name);
  if (!choice || !*choice) return "preset";
  const app::Preset* preset = app::find_preset(name);
  if (preset == nullptr) return (*choice)->file;
  const auto own = app::preset_file(*preset);
  return own && *own == (*choice)->file ? "preset" : (*choice)->file;
}

ExitStatus list_agents(const app::Workspace& workspace, bool json, Console& console) {
  for (const std::string& name : app::agent_names(workspace)) {
    const std::string origin = origin_of(workspace, name);
    const app::Preset* preset = origin == "preset" ? app::find_preset(name) : nullptr;
    if (json) {
      console.item("agent_file",
                   {{"name", name}, {"file", preset == nullptr ? Json(origin) : Json(nullptr)}});
    } else {
      console.out.line(
          fmt::format("{:12} {}", app::one_line(name, 40),
                      preset == nullptr ? app::one_line(origin, 200) : std::string(preset->about)));
    }
  }
  return ExitStatus::kFinished;
}

/// Names the files of the current folder that the agent would get instructions from, and those that it would
/// not.
void show_instruction_files(Console& console) {
  const auto files = app::current_instruction_files();
  const FolderInstructions found = app::folder_instructions(files);
  for (const app::InstructionFile& file : files) {
    if (file.trusted)
      console.err.line(
          fmt::format("with the instructions of {}, {} bytes", app::exact(file.name), file.text.size()));
  }
  for (const std::string& warning : found.warnings) console.err.line(visible_text(warning));
}

Result<ExitStatus> show_agent(const app::Workspace& workspace, const AgentsOptions& options,
                              Console& console) {
  const auto choice = app::find_agent_file(workspace, options.name);
  if (!choice) return fail(choice.error());
  if (!*choice) return fail(app::no_such_agent(workspace, options.name));
  const auto text = read_input((*choice)->file);
  if (!text) return fail(text.error());
  console.result({{"name", options.name}, {"file", (*choice)->file}, {"text", *text}});
  if (!options.json) console.out.write(console.terminal.out ? visible_text(*text) : *text);
  const auto document = TomlDocument::parse(*text, (*choice)->file);
  if (document && json_bool(document->json(), "folder_instructions")) show_instruction_files(console);
  return ExitStatus::kFinished;
}

/// Writes a preset into a new file.
Result<ExitStatus> copy_preset(const AgentsOptions& options, Console& console) {
  const app::Preset* preset = app::find_preset(options.name);
  if (preset == nullptr)
    return fail(
        app::usage_error("there is no preset " + app::in_quotes(options.name), "praxis agents lists them"));
  const std::string file = options.file.empty() ? options.name + ".toml" : options.file;
  if (std::filesystem::exists(file))
    return fail(
        app::usage_error(app::in_quotes(file) + " exists and was not changed", "-o names another file"));
  if (auto written = write_file(file, preset->text); !written) return fail(written.error());
  console.result({{"name", options.name}, {"file", file}});
  console.err.line(visible_text(fmt::format("{} written; praxis chat {}", file, app::shell_word(file))));
  return ExitStatus::kFinished;
}

}  // namespace

Result<ExitStatus> execute(const AgentsOptions& options, Console& console) {
  const bool needs_name = options.verb != AgentsVerb::kList;
  if (needs_name && options.name.empty())
    return fail(app::usage_error("which agent? Name it", "praxis agents lists them"));
  if (!needs_name && !options.name.empty())
    return fail(app::usage_error("praxis agents list takes no name",
                                 "praxis agents show " + app::shell_word(options.name)));
  auto workspace = open_place(options.place, console);
  if (!workspace) return fail(workspace.error());
  if (options.verb == AgentsVerb::kShow) return show_agent(*workspace, options, console);
  if (options.verb == AgentsVerb::kInit) return copy_preset(options, console);
  return list_agents(*workspace, options.json, console);
}

}  // namespace praxis::cli

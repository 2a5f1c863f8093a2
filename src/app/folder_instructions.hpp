// Instructions that come with the folder in which an agent works: `AGENTS.md`, or `CLAUDE.md` where that is
// missing, of this folder and of those above it. They come from a repository and count only if the user
// trusts exactly their bytes (app/trust.hpp).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "praxis/app/agent_file.hpp"

namespace praxis::app {

/// Upper bound of the text of all files that a model gets.
inline constexpr std::size_t kMaxFolderInstructions = 32 * 1024;

/// A file with instructions for agents that work in its folder.
struct InstructionFile {
  std::string path;      ///< absolute
  std::string name;      ///< relative to the folder in which the agent works
  std::string text;      ///< UTF-8
  std::string problem;   ///< why the file can never count; empty: the user may trust it
  bool trusted = false;  ///< the user trusts these bytes
  bool changed = false;  ///< the user trusts other bytes of this file

  /// Of the bytes, in hexadecimal.
  std::string digest() const;
};

/// Whether files of this name hold instructions.
bool is_instruction_file(const std::string& path);
/// Reads one file and compares it with what the user trusts; follows no link.
InstructionFile instruction_file_at(const std::string& path);
/// The files of `start` (absolute) and, within a repository, of the folders above it up to the repository's,
/// the nearest first. None of the home folder and those above it. Trust is not compared.
std::vector<InstructionFile> find_instruction_files(const std::string& start, const std::string& home);
/// The files of the current folder, compared with what the user trusts.
std::vector<InstructionFile> current_instruction_files();

/// What an agent gets of these files: the trusted ones, in this order, within the bound.
FolderInstructions folder_instructions(const std::vector<InstructionFile>& files);

/// One file's share of an agent's instructions.
struct InstructionShare {
  std::string name;  ///< relative to the folder in which the agent works, safe to show
  std::string text;  ///< as the model gets it, with its heading
};
/// The agent's own instructions, and what each file of the folder adds to them, the nearest first.
struct SplitInstructions {
  std::string own;
  std::vector<InstructionShare> files;
};
SplitInstructions split_instructions(const AgentSpec& spec);

/// Reads the files of the current folder when the first agent asks for them, and knows whether one did.
class FolderInstructionsOfRun {
 public:
  /// Lets the agents that `options` read get them. `options` must not outlive this object.
  void give_to(AgentFileOptions& options);
  /// Notes in the metadata of an agent of the run what was read, unless its own instructions have it.
  void note(Agent& agent) const;

 private:
  bool used_ = false;
  FolderInstructions found_;
};

/// The metadata of an agent whose instructions end with those of the folder; null `found`: an entry that the
/// file made up is removed.
Json with_folder_instructions(Json metadata, const FolderInstructions* found);
/// What a run recorded: it keeps what it began with.
FolderInstructions recorded_folder_instructions(const AgentSpec& spec);

}  // namespace praxis::app

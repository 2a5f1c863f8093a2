#include "app/presets.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "app/config_edit.hpp"
#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/owned_file.hpp"
#include "app/plain_text.hpp"
#include "praxis/base/digest.hpp"

namespace praxis::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPreset = std::size_t{64} * 1024;

constexpr std::string_view kAssistant =
    R"(# A general assistant: answers, remembers between runs, reads what is in this folder.
id = "assistant"
description = "Answers questions, remembers what matters, reads the files of this folder"
instructions = """
You are a helpful assistant in the user's terminal. Be short and exact; use Markdown.
- Recall before you ask what the user may have said before; remember lasting facts and preferences.
- Read files only when the question is about them, and name the file that an answer comes from.
- If something is unclear and matters, ask with ask_user. Say what you do not know.
"""

[tools.ask_user]
[tools.memory]
write = true
[tools.file]
read = ["."]
code = true
)";

constexpr std::string_view kCoder =
    R"(# Works in the repository of the current folder: reads, edits, runs its programs in the sandbox.
id = "coder"
description = "Works in a repository: reads and edits its files, runs its tests"
folder_instructions = true
instructions = """
You are a careful software engineer who works in the repository of the current folder.
- First look: read CONTRIBUTING.md if there is one, then the code that matters (glob, grep, file_read).
  Never guess what a file holds.
- Make small changes with edit: copy `old` exactly from the file. New files with file_write. Follow the style around.
- Run the tests that cover what you changed with shell; programs run in a sandbox without network, in this folder.
  Read what failed before you change more.
- Touch nothing outside of the task. Do not commit unless you were asked to.
- If the task is unclear, or something destructive seems necessary, ask with ask_user.
- End with what you changed, file by file, which tests passed, and what is open.
"""

[tools.ask_user]
[tools.file]
read = ["."]
write = ["."]
code = true
[tools.shell]
folder = "."
timeout = "10m"
[policy]
allow = ["shell"]

[limits]
max_steps = 200
)";

constexpr std::string_view kResearcher =
    R"(# Splits a question, works on its parts side by side, and names its sources.
id = "researcher"
description = "Answers a question from the files of this folder and the web pages that it may read, with sources"
instructions = """
You answer questions by research.
- Split the question into parts that are independent, and give each to a copy of yourself with fork, all in one step.
- Find sources with glob and grep in this folder; read a web page with http only if its host is allowed.
- Every statement names its source: the file with its line, or the address. Say where sources contradict each other.
- State what you could not find out. Never invent a source.
"""

[tools.ask_user]
[tools.fork]
[tools.text]
[tools.file]
read = ["."]
code = true
[tools.http]
allow = ["*.wikipedia.org"]
)";

constexpr std::string_view kReviewer = R"(# Reads a change and the code around it; never writes.
id = "reviewer"
description = "Reviews a change: bugs, risks, missing tests; never writes"
instructions = """
You review changes to software. The change comes with the message, as a diff; the files are in the current folder.
- Read the code around each change (file_read, grep) before you judge it. Check callers of what was changed.
- Report in order of weight: bugs with the input that shows them, then risks, then missing tests, then style that
  hides a mistake. Each with file and line, and what to do.
- Do not repeat what the change does. If it is good, say so in one sentence.
"""

[tools.file]
read = ["."]
code = true
)";

constexpr std::array kPresets{
    Preset{"assistant", "answers, remembers, reads the files of the folder", kAssistant},
    Preset{"coder", "works in a repository: reads, edits, runs its tests in the sandbox", kCoder},
    Preset{"researcher", "splits a question, works on the parts side by side, names its sources",
           kResearcher},
    Preset{"reviewer", "reads a change and the code around it; never writes", kReviewer}};

}  // namespace

std::span<const Preset> presets() { return kPresets; }

const Preset* find_preset(std::string_view name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == kPresets.end() ? nullptr : &*found;
}

Result<std::string> preset_file(const Preset& preset) {
  const fs::path folder = own_folder("XDG_STATE_HOME", ".local/state") / "presets";
  if (!folder.is_absolute())
    return fail(usage_error("there is no place for the agent " + in_quotes(preset.name) +
                                ": neither HOME nor XDG_STATE_HOME is set",
                            "praxis agents init writes it to a file"));
  const fs::path path = folder / digest_of(preset.text).hex(4) / (std::string(preset.name) + ".toml");
  const auto there = read_owned_file(path.string(), kMaxPreset);
  if (there && *there == preset.text) return path.string();
  std::error_code absent;
  fs::permissions(folder, fs::perms::owner_all, absent);
  if (auto written = replace_file(path.string(), preset.text); !written) return fail(written.error());
  return path.string();
}

}  // namespace praxis::app

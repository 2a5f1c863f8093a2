// A folder with its own journal, in which tests run commands.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "praxis/json/json.hpp"
#include "process.hpp"

namespace praxis::testing {

/// The outcome of a command.
struct CommandResult {
  int status = 0;
  std::string out, err;

  /// The lines of standard output, each of which must be one JSON value.
  std::vector<Json> lines() const {
    std::vector<Json> values;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) {
      auto value = parse_json(line);
      EXPECT_TRUE(value.has_value()) << "not JSON: " << line;
      values.push_back(value ? *value : Json(nullptr));
    }
    return values;
  }
  /// The last line: with `--json` the envelope.
  Json last_line() const {
    const auto values = lines();
    return values.empty() ? Json(nullptr) : values.back();
  }
  /// The lines before the envelope.
  std::vector<Json> items() const {
    auto values = lines();
    if (!values.empty()) values.pop_back();
    return values;
  }
  Json last_item() const {
    const auto values = items();
    return values.empty() ? Json(nullptr) : values.back();
  }
};

class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_cli_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    options_.folder = folder_.string();
    std::filesystem::create_directory(home_folder());
    options_.env = {{"HOME", home_folder()},
                    {"XDG_STATE_HOME", (folder_ / "state").string()},
                    {"XDG_CONFIG_HOME", (folder_ / "config").string()},
                    {"OPENAI_API_KEY", ""},
                    {"OPENAI_BASE_URL", ""},
                    {"PRAXIS_NETWORK_PATIENCE", "2s"},
                    {"SHELL", "/bin/sh"},
                    {"TERM", "xterm"}};
  }
  ~CommandLine() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
    std::filesystem::remove_all(home_folder());
  }

  /// Apart from the folder in which the commands run.
  std::string home_folder() const { return folder_.string() + "_home"; }

  std::vector<std::string> command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), PRAXIS_BINARY_DIR "/praxis");
    return arguments;
  }
  CommandResult praxis(const std::vector<std::string>& arguments) const {
    return praxis(arguments, options_);
  }
  CommandResult praxis(const std::vector<std::string>& arguments, const ProcessOptions& options) const {
    return run(command(arguments), options);
  }
  CommandResult run(const std::vector<std::string>& words, const ProcessOptions& options) const {
    Process process(words, options);
    const int status = process.finish();
    return {status, process.output, process.errors};
  }
  /// Runs `text` in a shell, with `praxis` on its path.
  CommandResult shell(const std::string& text) const {
    ProcessOptions options = options_;
    options.env["PATH"] = std::string(PRAXIS_BINARY_DIR) + ":" + std::getenv("PATH");
    return run({"bash", "-c", text}, options);
  }

  std::filesystem::path file(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  unsigned mode_of(const std::string& name) const {
    return static_cast<unsigned>(std::filesystem::status(folder_ / name).permissions());
  }
  std::string contents(const std::string& name) const {
    std::ifstream in(folder_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// The digest with which the user can accept changed files of an agent, as the refusal of a command names
  /// it.
  static std::string digest_in(const CommandResult& refused) {
    const std::string flag = "--accept-agent ";
    const auto at = refused.err.find(flag);
    return at == std::string::npos ? "" : refused.err.substr(at + flag.size(), 64);
  }

  /// Returns the id of the newest run.
  std::string last_run() const {
    const CommandResult runs = praxis({"runs", "--json", "-n", "1"});
    return json_string(runs.last_item(), "id");
  }

  std::filesystem::path folder_;
  ProcessOptions options_;
};

}  // namespace praxis::testing

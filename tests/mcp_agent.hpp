// An agent with one MCP server for tests of the binary.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/testing/missing_part.hpp"
#include "command_line.hpp"
#include "praxis/process/sandbox.hpp"

namespace praxis::testing {

inline const std::string kMcpFolder = PRAXIS_SOURCE_DIR "/tests/mcp";

class CliMcp : public CommandLine {
 protected:
  void SetUp() override {
    if (!probe_sandbox().full())
      PRAXIS_MISSING_PART("no sandbox on this machine: " << probe_sandbox().reason());
    std::filesystem::create_directories(folder_ / "notes");
  }

  /// Writes `agent.toml` with one server, `fix`, of this behaviour, and a script for its model. `program` is
  /// in the folder of servers.
  void agent(const std::string& behaviour, const std::string& script, const std::string& more = "",
             const std::string& rules = "allow = [\"fix__*\"]",
             const std::string& program = "server.py") const {
    file("script.jsonl", script);
    file("agent.toml", "id = \"tester\"\nmodel = \"script:script.jsonl\"\n[policy]\n" + rules +
                           "\n[tools.mcp.fix]\ncommand = [\"python3\", \"" + kMcpFolder + "/" + program +
                           "\", \"" + behaviour + "\", \"" + notes_path() + "\"]\nread = [\"" + kMcpFolder +
                           "\"]\nwrite = [\"notes\"]\n" + more);
  }
  std::string notes_path() const { return (folder_ / "notes" / "calls").string(); }
  static std::string calls(const std::string& tool, const std::string& arguments = "{}") {
    return R"({"tool_calls": [{"name": "fix__)" + tool + R"(", "arguments": )" + arguments + "}]}\n" +
           R"({"text": "DONE"})" + "\n";
  }
  std::string shown() const { return praxis({"logs", "last", "--json"}).out; }
  CommandResult client(const std::string& scenario) const {
    return run({"python3", kMcpFolder + "/client.py", scenario, PRAXIS_BINARY_DIR "/praxis", "mcp", "serve",
                "greeter", "sleeper"},
               options_);
  }
};

}  // namespace praxis::testing

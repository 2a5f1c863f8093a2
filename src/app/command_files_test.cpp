#include "app/command_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace praxis::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

namespace fs = std::filesystem;

class CommandFiles : public ::testing::Test {
 protected:
  CommandFiles() : top_(fs::temp_directory_path() / ("praxis_command_files_" + std::to_string(getpid()))) {
    fs::create_directories(top_ / "bin");
    for (const char* name : {"a.sh", "bin/b", "c.conf", "server.py"}) std::ofstream(top_ / name) << "x";
  }
  ~CommandFiles() override { fs::remove_all(top_); }
  std::vector<std::string> found(const std::vector<std::string>& words) const {
    return files_of_command(words, top_);
  }
  std::vector<std::string> servers(const Json& agent) const { return server_files(agent, {}, top_, top_); }
  std::string at(const char* name) const { return top_ / name; }

  const fs::path top_;
};

TEST_F(CommandFiles, WordsArePathsFromTheFolder) {
  EXPECT_THAT(found({"./a.sh", "bin", "none"}), ElementsAre(at("a.sh")));
  EXPECT_THAT(found({at("bin/b"), "--config=c.conf"}), ElementsAre(at("bin/b"), at("c.conf")));
}

TEST_F(CommandFiles, LineForTheShellIsReadInWords) {
  EXPECT_THAT(found({"cd . && PATH=x './a.sh' | (bin/b;<c.conf)"}),
              IsSupersetOf({at("a.sh"), at("bin/b"), at("c.conf")}));
}

TEST_F(CommandFiles, ProgramWithAPathCountsBeforeItExists) {
  EXPECT_THAT(found({"./later/x", "y"}), ElementsAre(at("later/x")));
  EXPECT_THAT(found({"later", "y"}), IsEmpty());
  EXPECT_THAT(found({""}), IsEmpty());
}

TEST_F(CommandFiles, NameOfAProgramIsLookedUp) {
  EXPECT_THAT(found({"env"}), ::testing::Contains("/usr/bin/env"));
}

TEST_F(CommandFiles, NameIsThatOfTheFirstProgramInPathAndOfThePlacesBefore) {
  for (const char* name : {"first", "second", "third"}) fs::create_directories(top_ / name);
  for (const char* name : {"first/tool", "second/tool", "third/tool"}) std::ofstream(top_ / name) << "x";
  for (const char* name : {"second/tool", "third/tool"})
    fs::permissions(top_ / name, fs::perms::owner_exec, fs::perm_options::add);
  const std::string before = getenv("PATH");
  setenv("PATH", (at("none") + ":bin:" + at("first") + ":" + at("second") + ":" + at("third")).c_str(), 1);
  EXPECT_THAT(found({"tool"}), ElementsAre(at("bin/tool"), at("first/tool"), at("second/tool")));
  EXPECT_THAT(found({"nothing"}), IsEmpty());
  setenv("PATH", (":" + at("second")).c_str(), 1);
  EXPECT_THAT(found({"tool"}), ElementsAre(at("second/tool"), at("tool")))
      << "an empty place is the current folder";
  fs::create_directory_symlink(top_ / "first", top_ / "way");
  setenv("PATH", (at("way") + ":" + at("second")).c_str(), 1);
  EXPECT_THAT(found({"tool"}), ElementsAre(at("first/tool"), at("second/tool")));
  setenv("PATH", before.c_str(), 1);
}

TEST_F(CommandFiles, ServersOfAnAgentAreNamed) {
  const Json agent = *parse_json(
      R"({"tools":{"mcp":{"m":{"command":["python3","server.py"],"folder":"."},"n":{"command":["x","c.conf"]}},
          "acp":{"o":{"command":["./a.sh"]}}}})");
  EXPECT_THAT(servers(agent), IsSupersetOf({at("server.py"), at("a.sh")}));
  EXPECT_THAT(servers(agent), ::testing::Not(::testing::Contains(at("c.conf"))));
  EXPECT_THAT(servers(Json()), IsEmpty());
}

TEST_F(CommandFiles, ServersOfAFileAreNamed) {
  std::ofstream(top_ / ".mcp.json") << R"({"mcpServers":{"m":{"command":"python3","args":["server.py"]}}})";
  const Json agent = *parse_json(R"({"tools":{"mcp":{"m":{"from":".mcp.json","folder":"."}}}})");
  EXPECT_THAT(servers(agent), ::testing::Contains(at("server.py")));
}

TEST_F(CommandFiles, DataOfAServerStaysItsOwn) {
  const Json agent = *parse_json(
      R"({"tools":{"acp":{"m":{"command":["python3","server.py","bin/b"],"write":["./bin/","c.conf"]}}}})");
  const auto files = servers(agent);
  EXPECT_THAT(files, ::testing::Contains(at("server.py")));
  EXPECT_THAT(files, ::testing::Not(::testing::Contains(at("bin/b"))));
}

}  // namespace
}  // namespace praxis::app

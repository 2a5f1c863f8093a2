#include "app/named_by_agents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "praxis/tools/file_tool.hpp"

namespace praxis::app {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

namespace fs = std::filesystem;

constexpr const char* kWriter = "\n[tools.file]\nwrite = ['.']\n";

class NamedByAgents : public ::testing::Test {
 protected:
  NamedByAgents() : top_(fs::temp_directory_path() / ("praxis_named_by_" + std::to_string(getpid()))) {
    fs::create_directories(top_ / "team");
    file("lead.toml", std::string("[agents.one]\nfile = 'team/one.toml'\ndescription = 'x'\n") +
                          "[agents.two]\nfile = 'team/two.toml'\ndescription = 'x'" + kWriter);
    file("team/one.toml", std::string("instructions_file = 'one.md'\n[policy]\nask = ['coder__ask']\n"
                                      "[tools.acp.coder]\ncommand = ['./x.sh']") +
                              kWriter);
    file("team/two.toml", std::string("[agents.three]\nfile = 'three.toml'\ndescription = 'x'") + kWriter);
    file("team/three.toml", "[policy]\nask = ['m__*']\n[tools.mcp.m]\ncommand = ['./y.sh']\nfolder = '.'\n");
    file("team/one.md", "Do it.");
    for (const char* name : {"x.sh", "y.sh"}) file(name, "x");
  }
  ~NamedByAgents() override { fs::remove_all(top_); }
  void file(const char* name, const std::string& text) const { std::ofstream(top_ / name) << text; }
  std::string at(const char* name) const { return top_ / name; }
  std::vector<std::string> all() const {
    return {at("x.sh"),       at("y.sh"), at("team/one.toml"), at("team/two.toml"), at("team/three.toml"),
            at("team/one.md")};
  }
  std::vector<std::string> named(const AgentFileOptions& options) const {
    const Json lead = *parse_json(R"({"team":{"members":{"a":{"file":"team/one.toml"}},
        "supervisor":"team/two.toml"},"agents":{"b":{"file":"lead.toml"},"c":{"file":"none.toml"}}})");
    return named_by_agents(lead, options, top_, top_);
  }

  const fs::path top_;
};

TEST_F(NamedByAgents, NoAgentWritesWhatAnotherNames) {
  std::vector<std::vector<std::string>> protect;
  AgentFileOptions options;
  options.folder = top_;
  options.default_model = "openai:a";
  options.on_writing_tool = [&](Tool tool, const std::vector<std::string>&, const FileBounds& bounds) {
    protect.push_back(bounds.protect);
    return tool;
  };
  const auto agent = load_agent_file(at("lead.toml"), options);
  ASSERT_TRUE(agent) << agent.error().message;
  EXPECT_THAT(protect, SizeIs(3)) << "the file tools of three agents";
  EXPECT_THAT(protect, Each(IsSupersetOf(all())));
}

TEST_F(NamedByAgents, TeamsCountAndCirclesEnd) {
  std::vector<std::string> all_and_others = all();
  for (const char* name : {"lead.toml", "none.toml"}) all_and_others.push_back(at(name));
  EXPECT_THAT(named({}), ::testing::UnorderedElementsAreArray(all_and_others));
}

TEST_F(NamedByAgents, DocumentOutOfTheBoundIsNotRead) {
  AgentFileOptions options;
  options.within = fs::canonical(top_) / "elsewhere";
  std::size_t read = 0;
  options.read_file = [&](const std::string&, std::size_t) -> Result<std::string> {
    ++read;
    return "";
  };
  EXPECT_THAT(named(options), Contains(at("team/one.toml")));
  EXPECT_THAT(named(options), Not(Contains(at("x.sh"))));
  EXPECT_EQ(read, 0U);
}

}  // namespace
}  // namespace praxis::app

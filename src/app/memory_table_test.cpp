// The table `[tools.memory]` of an agent file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/app/agent_file.hpp"
#include "praxis/memory/stores.hpp"
#include "praxis/policy/policy.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class MemoryTable : public ::testing::Test {
 protected:
  MemoryTable() {
    options_.memory = [this]() -> Result<std::shared_ptr<DatabaseClient>> { return database_; };
  }
  Agent parse(const std::string& text) { return parse_agent_file(text, "a.toml", options_).value(); }
  std::string mistake(const std::string& text) {
    return parse_agent_file(text, "a.toml", options_).error().message;
  }
  static std::vector<std::string> tools_of(const Agent& agent) {
    std::vector<std::string> names;
    for (const Tool& tool : agent.description()->tools.tools()) names.push_back(tool.definition.name);
    return names;
  }

  const std::shared_ptr<DatabaseClient> database_ = memory_in_process().database;
  AgentFileOptions options_;
};

TEST_F(MemoryTable, ReadsByDefaultAndWritesIfToldTo) {
  EXPECT_THAT(tools_of(parse("[tools.memory]")), ElementsAre("recall"));
  const Agent writer = parse("[tools.memory]\nwrite = true\n[policy]\nask = ['forget']");
  EXPECT_THAT(tools_of(writer), ElementsAre("remember", "recall", "forget"));
  const PolicyRules rules = policy_rules_from_json(writer.spec().policy);
  EXPECT_THAT(rules.allow, ElementsAre("remember", "recall", "forget"));
  EXPECT_THAT(rules.ask, ElementsAre("forget")) << "takes precedence";
  EXPECT_THAT(tools_of(parse("id = 'a'")), IsEmpty());
}

TEST_F(MemoryTable, AgentOfAProject_SeesOnlyWhatItsProjectKeeps) {
  const auto recalls = [this](const std::string& text) {
    const Agent agent = parse(text);
    ToolContext context;
    return agent.description()->tools.execute(context, "recall", R"({"query": "word"})")->text;
  };
  ASSERT_TRUE(database_->write("notes", "mine", "a word of mine"));
  ASSERT_TRUE(database_->write("notes@/src/clone", "theirs", "a word of theirs"));
  EXPECT_THAT(recalls("[tools.memory]"), HasSubstr("of mine"));
  options_.within = "/src/clone";
  EXPECT_THAT(recalls("[tools.memory]"), HasSubstr("of theirs"));
  EXPECT_EQ(recalls("[tools.memory]\ncollection = 'other'"), "nothing found");
}

TEST_F(MemoryTable, Documents_AreRecalledAndApartForEachProject) {
  const auto recalls = [this](const std::string& text) {
    ToolContext context;
    return parse(text).description()->tools.execute(context, "recall", R"({"query": "word"})")->text;
  };
  ASSERT_TRUE(database_->write("documents", "a.md:1-2", {{"text", "a word of a document"}}));
  ASSERT_TRUE(database_->write("documents@/src/clone", "b.md:1-2", {{"text", "a word of theirs"}}));
  EXPECT_EQ(recalls("[tools.memory]"), "nothing found");
  EXPECT_THAT(recalls("[tools.memory]\ndocuments = 'documents'"), HasSubstr("a.md:1-2"));
  options_.within = "/src/clone";
  EXPECT_THAT(recalls("[tools.memory]\ndocuments = 'documents'"),
              AllOf(HasSubstr("b.md:1-2"), Not(HasSubstr("a.md:1-2"))));
}

TEST_F(MemoryTable, Automatic_GivesTheModelWhatItMaySee) {
  const auto sent = [this](const std::string& table) {
    const Agent agent = parse(table);
    Message message = text_message(Role::kUser, "Which tea?");
    for (const auto& hook : agent.description()->hooks.outgoing_message) hook({}, message);
    return message.text();
  };
  ASSERT_TRUE(database_->write("notes", "mine", {{"text", "green tea"}}));
  ASSERT_TRUE(database_->write("documents", "a.md:1-2", {{"text", "black tea"}}));
  EXPECT_EQ(sent("[tools.memory]\ndocuments = 'documents'"), "Which tea?");
  EXPECT_THAT(sent("[tools.memory]\nautomatic = true"), AllOf(HasSubstr("green"), Not(HasSubstr("black"))));
  EXPECT_THAT(sent("[tools.memory]\nautomatic = true\ndocuments = 'documents'"),
              AllOf(HasSubstr("green"), HasSubstr("[a.md:1-2, ")));
  options_.within = "/src/clone";
  EXPECT_EQ(sent("[tools.memory]\nautomatic = true\ndocuments = 'documents'"), "Which tea?");
}

TEST_F(MemoryTable, Mistakes_AreNamed) {
  EXPECT_THAT(mistake("[tools.memory]\nwrites = true"), HasSubstr("did you mean \"write\""));
  EXPECT_THAT(mistake("[tools.memory]\ncollection = 'notes@/src/clone'"),
              HasSubstr("must not contain \"@\""));
  EXPECT_THAT(mistake("[tools.memory]\ndocuments = 'notes@/src/clone'"), HasSubstr("must not contain \"@\""));
  options_.memory = [] { return fail(ErrorCode::kJournal, "the disk is gone"); };
  EXPECT_THAT(mistake("[tools.memory]"), HasSubstr("the disk is gone"));
  options_.memory = nullptr;
  EXPECT_THAT(mistake("[tools.memory]"), HasSubstr("provides no memory"));
}

}  // namespace
}  // namespace praxis

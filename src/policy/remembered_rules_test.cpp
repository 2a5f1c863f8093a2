// Remembered rules apply to their user and agent only, and survive damage to the file's end.
#include "praxis/policy/remembered_rules.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class RememberedRulesTest : public ::testing::Test {
 protected:
  ~RememberedRulesTest() override { fs::remove_all(folder_); }

  void write(const std::string& text) const {
    std::ofstream(path_, std::ios::binary) << text;
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<CallRule> of(const std::string& agent) const {
    auto rules = remembered_.of(agent);
    EXPECT_TRUE(rules) << rules.error().message;
    return rules.value_or(std::vector<CallRule>{});
  }
  std::string mistake() const {
    auto rules = remembered_.of("a");
    return rules ? "none" : rules.error().message;
  }

  const fs::path folder_ = fs::temp_directory_path() / ("praxis-remembered-" + std::to_string(getpid()));
  const bool made_ = fs::create_directories(folder_);
  const std::string path_ = folder_ / "allowed.jsonl";
  const RememberedRules remembered_{path_};
  const CallRule ls_{"shell", JsonObject{{"argv", JsonArray{"ls"}}}};
  const CallRule log_{"shell", JsonObject{{"argv", JsonArray{"git", "log"}}}, true};
};

TEST_F(RememberedRulesTest, Rules_ApplyOnlyToTheirAgent) {
  EXPECT_THAT(of("a"), IsEmpty()) << "there is no file yet";
  ASSERT_TRUE(remembered_.add("a", ls_));
  ASSERT_TRUE(remembered_.add("b", log_));
  ASSERT_TRUE(remembered_.add("a", log_));
  EXPECT_THAT(of("a"), ElementsAre(ls_, log_));
  EXPECT_THAT(of("b"), ElementsAre(log_));
  EXPECT_THAT(of("c"), IsEmpty());
  struct stat about = {};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(RememberedRulesTest, ConcurrentAdditions_AreAllKeptOnce) {
  std::vector<std::jthread> people;
  for (int person = 0; person < 4; ++person) {
    people.emplace_back([&, person] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(remembered_.add("a", ls_));
        EXPECT_TRUE(remembered_.add("a", {"tool", JsonObject{{"person", person}, {"n", i}}}));
      }
    });
  }
  people.clear();
  EXPECT_EQ(of("a").size(), 81U);
}

TEST_F(RememberedRulesTest, IncompleteLastLine_IsIgnored) {
  ASSERT_TRUE(remembered_.add("a", ls_));
  write(read() + R"({"agent":"a","tool":"shell","arguments":{}})");
  EXPECT_THAT(of("a"), ElementsAre(ls_));
  ASSERT_TRUE(remembered_.add("a", log_));
  EXPECT_THAT(of("a"), ElementsAre(ls_, log_));
}

TEST_F(RememberedRulesTest, InvalidFile_IsReportedWithTheLine) {
  write("{\"agent\":\"a\",\"tool\":\"x\",\"arguments\":{}}\nnonsense\n");
  EXPECT_THAT(mistake(), HasSubstr(path_ + ": line 2: "));
  EXPECT_FALSE(remembered_.add("a", ls_));
  write("{\"agent\":\"a\",\"tool\":\"*\",\"arguments\":{}}\n");
  EXPECT_THAT(mistake(), HasSubstr("line 1: a call rule must name one tool"));
  write("");
  fs::permissions(path_, fs::perms::all);
  EXPECT_THAT(mistake(), HasSubstr("can be written by others; chmod 600 it"));
  fs::remove(path_);
  fs::create_symlink(folder_ / "elsewhere", path_);
  EXPECT_THAT(mistake(), HasSubstr("cannot be opened"));
  EXPECT_FALSE(remembered_.add("a", ls_));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_THAT(mistake(), HasSubstr("is not a regular file"));
}

TEST_F(RememberedRulesTest, OversizedRulesAndFiles_AreRefused) {
  const CallRule huge{"shell", JsonObject{{"text", std::string(RememberedRules::kMaxRuleBytes, 'x')}}};
  EXPECT_FALSE(remembered_.add("a", huge));
  write(std::string(RememberedRules::kMaxFileBytes - 10, '\n'));
  EXPECT_FALSE(remembered_.add("a", ls_));
  write(std::string(RememberedRules::kMaxFileBytes + 1, '\n'));
  EXPECT_THAT(mistake(), HasSubstr("is too long"));
}

ParkedStep waiting(std::string arguments, ParkKind kind = ParkKind::kApproval) {
  ParkedStep step;
  step.id = ParkId{"p1"};
  step.kind = kind;
  step.tool = "shell";
  step.arguments = std::move(arguments);
  return step;
}

TEST(NarrowRule, Rule_MatchesExactlyTheCall) {
  const auto rule = narrow_rule_for(waiting(R"({"argv": ["ls"]})"));
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(*rule, (CallRule{"shell", JsonObject{{"argv", JsonArray{"ls"}}}}));
  EXPECT_TRUE(narrow_rule_for(waiting("")));
  EXPECT_FALSE(narrow_rule_for(waiting("{")));
  for (const ParkKind kind : {ParkKind::kQuestion, ParkKind::kInDoubt, ParkKind::kAuthorisation})
    EXPECT_FALSE(narrow_rule_for(waiting("{}", kind)));
}

TEST(Remembered, Rules_ApplyOnlyWhereTheAgentsRulesAsk) {
  const std::vector<CallRule> remembered = {
      {"shell", JsonObject{}}, {"http", JsonObject{}}, {"pay", JsonObject{}}};
  PolicyRules rules;
  rules.ask = {"sh*", "pay"};
  rules.deny = {"pay"};
  add_remembered(rules, remembered);
  ToolCallPart call;
  const auto permission = [&](const char* tool) {
    call.name = tool;
    return judge(rules, {}, call);
  };
  EXPECT_TRUE(std::holds_alternative<Allow>(permission("shell")));
  EXPECT_TRUE(std::holds_alternative<Deny>(permission("http"))) << "no rule names it";
  EXPECT_TRUE(std::holds_alternative<Deny>(permission("pay")));
}

}  // namespace
}  // namespace praxis

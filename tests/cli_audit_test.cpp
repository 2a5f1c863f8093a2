// `praxis audit`: what was decided in the runs of a journal, and signed heads of it (docs/audit.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string audited_put(const std::string& key) {
  return R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": ")" + key +
         R"(", "value": "v"}}]})" + "\n";
}

class CliAudit : public CommandLine {
 protected:
  CliAudit() {
    file("agent.jsonl", audited_put("shared") + audited_put("secret") + "{\"text\": \"DONE\"}\n");
    file("agent.toml",
         "model = \"script:agent.jsonl\"\n[tools.kv]\n[[policy.rules]]\nid = \"shared\"\nask = \"kv\"\n"
         "[[policy.rules]]\nid = \"secrets\"\ndeny = \"kv\"\nwhen.key = { is = \"secret\" }\n");
  }
  void run_once() const {
    EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
    EXPECT_EQ(praxis({"resume", "last", "--allow", "p1"}).status, 4);
  }
  std::vector<std::string> actions() const {
    std::vector<std::string> found;
    for (const Json& line : praxis({"audit", "--json"}).lines()) {
      if (json_string(line, "item") == "audit") found.push_back(json_string(line, "action"));
    }
    return found;
  }
  fs::path journal() const { return folder_ / "state" / "praxis" / "journal.db"; }
  void keep(const fs::path& to) const {
    fs::remove_all(to);
    fs::copy(folder_ / "state", to, fs::copy_options::recursive);
  }
};

TEST_F(CliAudit, DecisionsOfRulesAndPeople_AreListedWithTheirAuthors) {
  run_once();
  EXPECT_THAT(actions(), ElementsAre("created", "parked", "approved", "blocked"));
  const CommandResult listed = praxis({"audit"});
  EXPECT_EQ(listed.status, 0) << listed.err;
  EXPECT_THAT(listed.out, AllOf(HasSubstr("parked    kv"), HasSubstr("blocked   kv by policy"),
                                HasSubstr("The rule \"secrets\" denies \"kv\".")));
  EXPECT_EQ(praxis({"audit", "--since", "1h"}).out, listed.out);
}

TEST_F(CliAudit, JournalThatGrew_IsVerifiedByAnOlderHead) {
  run_once();
  const CommandResult signed_head = praxis({"audit", "--sign", "head.json"});
  EXPECT_EQ(signed_head.status, 0) << signed_head.err;
  EXPECT_EQ(mode_of("state/praxis/audit.key"), 0600U);
  run_once();
  const CommandResult verified = praxis({"audit", "--verify", "head.json"});
  EXPECT_EQ(verified.status, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.err, HasSubstr("1 of 1 sessions are as on "));
}

TEST_F(CliAudit, OlderCopyOfTheWholeJournal_IsNoticed) {
  run_once();
  EXPECT_EQ(praxis({"audit", "--sign", "first.json"}).status, 0);
  keep(folder_ / "older");
  run_once();
  EXPECT_EQ(praxis({"audit", "--sign", "second.json"}).status, 0);
  fs::remove_all(folder_ / "state");
  fs::rename(folder_ / "older", folder_ / "state");
  EXPECT_EQ(praxis({"audit", "--verify", "first.json"}).status, 0);
  const CommandResult verified = praxis({"audit", "--verify", "second.json"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.out, HasSubstr(" is not there"));
}

TEST_F(CliAudit, LogThatLostItsEnd_IsNoticed) {
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
  keep(folder_ / "older");
  EXPECT_EQ(praxis({"resume", "last", "--allow", "p1"}).status, 4);
  EXPECT_EQ(praxis({"audit", "--sign", "head.json"}).status, 0);
  for (const auto& each : fs::directory_iterator(folder_ / "older" / "praxis")) {
    if (each.is_regular_file() && each.path().filename() != "audit.key")
      fs::copy_file(each.path(), folder_ / "state" / "praxis" / each.path().filename(),
                    fs::copy_options::overwrite_existing);
  }
  const CommandResult verified = praxis({"audit", "--verify", "head.json"});
  EXPECT_EQ(verified.status, 1) << verified.err;
  EXPECT_THAT(verified.out, HasSubstr(" ends after "));
}

TEST_F(CliAudit, HeadThatWasChangedOrIsOfAnotherKey_IsRefused) {
  run_once();
  EXPECT_EQ(praxis({"audit", "--sign", "head.json"}).status, 0);
  std::string text = contents("head.json");
  const std::string_view entries = "\"entries\":";
  const std::size_t at = text.find(entries);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + entries.size(), "1");
  file("changed.json", text);
  EXPECT_THAT(praxis({"audit", "--verify", "changed.json"}).err,
              HasSubstr("was changed after it was signed"));
  const Json head = parse_json(contents("head.json")).value();
  const std::string key = json_string(head, "key");
  fs::remove(folder_ / "state" / "praxis" / "audit.key");
  EXPECT_THAT(praxis({"audit", "--verify", "head.json"}).err, HasSubstr("--key KEY"));
  EXPECT_EQ(praxis({"audit", "--verify", "head.json", "--key", key}).status, 0);
  EXPECT_EQ(praxis({"audit", "--sign", "other.json"}).status, 0);
  EXPECT_THAT(praxis({"audit", "--verify", "head.json"}).err, HasSubstr("is signed by another key"));
  EXPECT_EQ(praxis({"audit", "--verify", "agent.toml", "--key", key}).status, 2);
  EXPECT_THAT(praxis({"audit", "--verify", "head.json", "--key", "x"}).err, HasSubstr("32 bytes"));
  fs::permissions(folder_ / "state" / "praxis" / "audit.key", fs::perms(0644));
  EXPECT_THAT(praxis({"audit", "--sign", "third.json"}).err, HasSubstr("chmod 600"));
}

TEST_F(CliAudit, PromptsAndHooks_ArePartOfIt) {
  file("p.txt", "Hello");
  EXPECT_EQ(praxis({"prompts", "put", "greeting", "p.txt"}).status, 0);
  EXPECT_EQ(praxis({"run", "agent.toml", "go"}).status, 3);
  EXPECT_THAT(actions(), Contains("changed"));
  EXPECT_THAT(praxis({"audit"}).out, HasSubstr("changed   prompt greeting"));
  EXPECT_EQ(praxis({"audit", "--sign", "head.json"}).status, 0);
  fs::remove(folder_ / "state" / "praxis" / "prompts.db");
  EXPECT_THAT(praxis({"audit", "--verify", "head.json"}).out, HasSubstr("changes of prompts"));
}

}  // namespace
}  // namespace praxis::testing

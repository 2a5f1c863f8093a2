// What agents keep next to the journal is sealed with it: kept files, schedules, prompts and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class CliSealStores : public CommandLine {
 protected:
  CliSealStores() {
    std::filesystem::create_directory(folder_ / "ws");
    file("coder.toml",
         "model = \"script:coder.jsonl\"\n[tools.file]\nread = [\"ws\"]\nwrite = [\"ws\"]\ncode = true\n");
    file("coder.jsonl",
         "{\"tool_calls\": [{\"name\": \"edit\", \"arguments\": {\"path\": \"a.txt\", \"edits\": [{\"old\": "
         "\"two\", \"replacement\": \"zwei\"}]}}]}\n{\"text\": \"Done.\"}\n");
    file("p.txt", "CANARY prompt");
    key("one.key", '6');
    key("two.key", '7');
  }

  void key(const std::string& name, char digit) const {
    std::filesystem::permissions(file(name, std::string(64, digit)), std::filesystem::perms(0600));
  }
  void set_key(const std::string& source) { options_.env["PRAXIS_ENCRYPTION_JOURNAL_KEY"] = source; }

  /// Something in each store.
  void fill() {
    file("ws/a.txt", "CANARY\ntwo\n");
    file("config/praxis/agents/CANARY-agent.toml", "model = \"script:coder.jsonl\"\n");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", "coder.toml", "CANARY please"},
             {"memory", "add", "CANARY likes green tea.", "--key", "CANARY-key"},
             {"prompts", "put", "CANARY-id", "p.txt"},
             {"schedule", "add", "0 6 * * *", "CANARY-agent", "CANARY early"}}) {
      const auto done = praxis(words);
      ASSERT_EQ(done.status, 0) << words[0] << ": " << done.err;
    }
  }
  void expect_all() const {
    EXPECT_THAT(praxis({"diff", "last"}).out, HasSubstr(" CANARY\n-two\n+zwei"));
    EXPECT_THAT(praxis({"memory", "search", "teas"}).out, HasSubstr("CANARY likes green tea."));
    EXPECT_THAT(praxis({"prompts", "show", "CANARY-id"}).out, HasSubstr("CANARY prompt"));
    EXPECT_THAT(praxis({"schedule", "list"}).out, HasSubstr("CANARY early"));
  }
  /// All files of the program's own folder that have the canary.
  std::vector<std::string> telling() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "state")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.find("CANARY") != std::string::npos) names.push_back(entry.path().filename());
    }
    return names;
  }
};

TEST_F(CliSealStores, NewStores_AreSealedAndUsedAsBefore) {
  set_key("file:one.key");
  fill();
  EXPECT_THAT(telling(), IsEmpty());
  expect_all();
  const auto undone = praxis({"undo", "last"});
  EXPECT_EQ(undone.status, 0) << undone.err;
  EXPECT_EQ(contents("ws/a.txt"), "CANARY\ntwo\n");
  EXPECT_EQ(praxis({"memory", "forget", "CANARY-key"}).status, 0);
  EXPECT_THAT(praxis({"memory", "search", "teas"}).out, Not(HasSubstr("CANARY")));
  EXPECT_THAT(telling(), IsEmpty());
}

TEST_F(CliSealStores, Seal_CoversAllStores_AndShowAndDoctorSaySo) {
  fill();
  EXPECT_THAT(telling(), UnorderedElementsAre("journal.db", "journal.db.files", "journal.db.schedules",
                                              "memory.db", "prompts.db"));
  set_key("file:one.key");
  EXPECT_THAT(praxis({"memory", "search", "teas"}).err, HasSubstr("praxis journal seal"));
  EXPECT_THAT(praxis({"doctor"}).out, HasSubstr("memory.db is not sealed; praxis journal seal seals it"));
  const auto sealed = praxis({"journal", "seal"});
  ASSERT_EQ(sealed.status, 0) << sealed.err;
  EXPECT_THAT(telling(), IsEmpty());
  expect_all();
  const auto shown = praxis({"journal", "show", "--json"}).last_line();
  std::vector<std::string> names;
  for (const Json& store : shown.as_object().at("stores").as_array()) {
    EXPECT_TRUE(json_bool(store, "sealed"));
    EXPECT_TRUE(json_bool(store, "clean"));
    names.push_back(json_string(store, "what"));
  }
  EXPECT_THAT(names, ElementsAre("file history", "schedules", "prompts", "memory"));
  EXPECT_THAT(praxis({"doctor"}).out,
              AllOf(HasSubstr("memory.db is sealed"), HasSubstr("files is sealed"),
                    HasSubstr("schedules is sealed"), HasSubstr("prompts.db is sealed")));
}

TEST_F(CliSealStores, RekeyAndNewKey_CoverAllStores_AndCanBeGivenAgain) {
  set_key("file:one.key");
  fill();
  for (int i = 0; i < 2; ++i) {
    const auto rekeyed = praxis({"journal", "rekey", "--to", "file:two.key"});
    ASSERT_EQ(rekeyed.status, 0) << rekeyed.err;
  }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"diff", "last"}, {"memory", "search", "teas"}, {"prompts", "list"}, {"schedule", "list"}}) {
    const auto refused = praxis(words);
    EXPECT_NE(refused.status, 0) << words[0];
    EXPECT_THAT(refused.err, AllOf(HasSubstr("the key is wrong"), Not(HasSubstr("CANARY")))) << words[0];
    EXPECT_THAT(refused.out, Not(HasSubstr("CANARY")));
  }
  set_key("file:two.key");
  expect_all();
  ASSERT_EQ(praxis({"journal", "new-key"}).status, 0);
  expect_all();
  EXPECT_THAT(telling(), IsEmpty());
}

TEST_F(CliSealStores, StoresWithoutAJournal_AreSealedToo) {
  ASSERT_EQ(praxis({"memory", "add", "CANARY likes green tea."}).status, 0);
  set_key("file:one.key");
  const auto sealed = praxis({"journal", "seal"});
  ASSERT_EQ(sealed.status, 0) << sealed.err;
  EXPECT_THAT(telling(), IsEmpty());
  EXPECT_THAT(praxis({"journal", "show"}).out, HasSubstr("memory.db: sealed since"));
  EXPECT_THAT(praxis({"memory", "search", "teas"}).out, HasSubstr("CANARY likes green tea."));
}

TEST_F(CliSealStores, AlteredStore_IsReportedByItsCommandAndByDoctor) {
  set_key("file:one.key");
  fill();
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "state/praxis/memory.db").c_str(), &connection), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(connection, "DELETE FROM notes", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(connection);
  const std::string said = "it does not hold what was written last";
  EXPECT_THAT(praxis({"memory", "search", "teas"}).err, HasSubstr(said));
  const auto doctor = praxis({"doctor"});
  EXPECT_NE(doctor.status, 0);
  EXPECT_THAT(doctor.out, HasSubstr(said));
}

}  // namespace
}  // namespace praxis::testing

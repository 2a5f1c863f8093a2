// The journal is sealed, opened with each source of a key, and refused without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHexKey(64, '6');

class CliSeal : public CommandLine {
 protected:
  CliSeal() {
    file("agent.toml", "id = \"notes\"\nmodel = \"script:notes.jsonl\"\n");
    file("notes.jsonl", "{\"text\": \"CANARY answer\"}\n");
    key("journal.key", kHexKey);
  }

  void key(const std::string& name, const std::string& text) const {
    std::filesystem::permissions(file(name, text), std::filesystem::perms(0600));
  }
  void set_key(const std::string& source) { options_.env["PRAXIS_ENCRYPTION_JOURNAL_KEY"] = source; }
  CommandResult run_agent() const { return praxis({"run", "agent.toml", "CANARY prompt"}); }
  /// Whether the journal, or a file next to it, has the canary. Copies of agent files, in a folder of their
  /// own, are not sealed.
  bool tells() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "state/praxis")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (bytes.find("CANARY") != std::string::npos) return true;
    }
    return false;
  }
};

TEST_F(CliSeal, Journal_IsSealedAndStaysReadable) {
  ASSERT_EQ(run_agent().status, 0);
  ASSERT_TRUE(tells());
  set_key("file:journal.key");
  const auto refused = run_agent();
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("praxis journal seal"));
  EXPECT_THAT(praxis({"journal", "show"}).out, HasSubstr("not sealed"));
  const auto sealed = praxis({"journal", "seal"});
  EXPECT_EQ(sealed.status, 0) << sealed.err;
  EXPECT_FALSE(tells());
  EXPECT_THAT(praxis({"journal", "show", "--json"}).last_line().as_object()["sealed"].as_bool(), true);
  for (const std::string verb : {"show", "replay", "export", "fork"}) {
    const auto read = praxis({verb, "last"});
    EXPECT_EQ(read.status, 0) << verb << ": " << read.err;
  }
  EXPECT_EQ(run_agent().status, 0);
  EXPECT_THAT(praxis({"runs"}).out, HasSubstr("CANARY prompt"));
  EXPECT_THAT(praxis({"doctor"}).out, HasSubstr("runs verified"));
  EXPECT_EQ(praxis({"journal", "new-key"}).status, 0);
  EXPECT_THAT(praxis({"show", "last"}).out, HasSubstr("CANARY answer"));
  EXPECT_FALSE(tells());
}

TEST_F(CliSeal, NewJournal_IsSealedFromItsFirstRun) {
  set_key("command:cat journal.key");
  EXPECT_EQ(run_agent().status, 0);
  EXPECT_FALSE(tells());
  EXPECT_THAT(praxis({"runs"}).out, HasSubstr("CANARY prompt"));
}

TEST_F(CliSeal, WithoutTheKey_OneErrorNamesTheSetting) {
  set_key("env:SOME_KEY");
  options_.env["SOME_KEY"] = kHexKey;
  ASSERT_EQ(run_agent().status, 0);
  options_.env["SOME_KEY"] = std::string(64, '7');
  for (const std::string source :
       {"", "env:SOME_KEY", "env:NO_SUCH", "file:none", "command:false", "other"}) {
    set_key(source);
    if (source.empty()) options_.env.erase("PRAXIS_ENCRYPTION_JOURNAL_KEY");
    for (const std::vector<std::string>& words : {std::vector<std::string>{"runs"}, {"show", "last"}}) {
      const auto refused = praxis(words);
      EXPECT_NE(refused.status, 0) << source;
      EXPECT_THAT(refused.out, Not(HasSubstr("CANARY")));
      EXPECT_THAT(refused.err,
                  AllOf(HasSubstr("is sealed"), Not(HasSubstr("7777")), Not(HasSubstr("CANARY"))));
    }
  }
}

TEST_F(CliSeal, Rekey_WrapsTheKeyWithAPassphrase) {
  set_key("file:journal.key");
  ASSERT_EQ(run_agent().status, 0);
  options_.env["PRAXIS_JOURNAL_PASSPHRASE"] = "correct horse";
  const auto rekeyed = praxis({"journal", "rekey", "--to", "passphrase"});
  EXPECT_EQ(rekeyed.status, 0) << rekeyed.err;
  EXPECT_THAT(praxis({"runs"}).err, HasSubstr("sealed with a passphrase and not with a key"));
  set_key("passphrase");
  EXPECT_THAT(praxis({"runs"}).out, HasSubstr("CANARY prompt"));
  options_.env["PRAXIS_JOURNAL_PASSPHRASE"] = "wrong horse";
  EXPECT_THAT(praxis({"runs"}).err, HasSubstr("the key is wrong"));
}

TEST_F(CliSeal, KeyThatOthersCanRead_IsRefused) {
  std::filesystem::permissions(folder_ / "journal.key", std::filesystem::perms(0644));
  set_key("file:journal.key");
  EXPECT_THAT(run_agent().err, HasSubstr("chmod 600"));
}

TEST_F(CliSeal, Project_CannotNameTheKey) {
  std::filesystem::create_directories(folder_ / ".git");
  file(".praxis/config.toml", "[encryption]\njournal_key = \"file:journal.key\"\n");
  const auto trusted = shell("praxis trust accept --digest $(praxis trust show | sed -n 's/^digest //p')");
  ASSERT_EQ(trusted.status, 0) << trusted.err;
  const auto shown = praxis({"journal", "show"});
  EXPECT_THAT(shown.out, Not(HasSubstr("file:journal.key")));
  EXPECT_THAT(shown.err, HasSubstr("encryption.journal_key"));
}

}  // namespace
}  // namespace praxis::testing

// `praxis tokens`: tokens with rights, in a file that is the user's alone (docs/roles.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class CliTokens : public CommandLine {
 protected:
  fs::path tokens() const { return folder_ / "state" / "praxis" / "tokens.jsonl"; }
};

TEST_F(CliTokens, AddedTokens_AreShownOnceAndListed) {
  const CommandResult added =
      praxis({"tokens", "add", "anna", "--role", "approver", "--tenant", "acme", "--expires", "90d"});
  ASSERT_EQ(added.status, 0) << added.err;
  EXPECT_THAT(added.out, StartsWith("praxis-"));
  const std::string secret = added.out.substr(0, added.out.find('\n'));
  const CommandResult listed = praxis({"tokens", "list"});
  EXPECT_THAT(listed.out,
              AllOf(HasSubstr("anna"), HasSubstr("approver"), HasSubstr("until "), HasSubstr("tenant acme")));
  EXPECT_THAT(listed.out, Not(HasSubstr(secret)));
  EXPECT_THAT(praxis({"tokens", "list", "--json"}).out, Not(HasSubstr(secret)));
  struct stat about{};
  ASSERT_EQ(::stat(tokens().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
  EXPECT_EQ(praxis({"tokens", "revoke", "anna"}).status, 0);
  EXPECT_THAT(praxis({"tokens", "list"}).out, HasSubstr("revoked"));
  EXPECT_EQ(praxis({"tokens", "revoke", "anna"}).status, 2);
}

TEST_F(CliTokens, Audit_ListsWhatWasAddedAndRevoked) {
  ASSERT_EQ(praxis({"tokens", "add", "anna", "--right", "run"}).status, 0);
  ASSERT_EQ(praxis({"tokens", "revoke", "anna"}).status, 0);
  const auto lists_both = AllOf(HasSubstr("added     token t"), HasSubstr("revoked   token t"));
  EXPECT_THAT(praxis({"audit"}).out, lists_both) << "without a journal too";
  file("answers.jsonl", "{\"text\": \"Hi\"}\n");
  ASSERT_EQ(praxis({"run", "--model", "script:answers.jsonl", "go"}).status, 0);
  EXPECT_THAT(praxis({"audit"}).out, lists_both);
}

TEST_F(CliTokens, WrongWords_AreOneMessageWithAHint) {
  const auto error = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"tokens", "add"});
    const CommandResult result = praxis(words);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_THAT(error({"anna"}), HasSubstr("--role ROLE, or --right RIGHT"));
  EXPECT_THAT(error({"anna", "--role", "aprover"}), HasSubstr("did you mean \"approver\"?"));
  EXPECT_THAT(error({"anna", "--right", "runn"}), HasSubstr("did you mean \"run\"?"));
  EXPECT_THAT(error({"a b", "--role", "viewer"}), HasSubstr("a token needs a name"));
  EXPECT_THAT(error({"owner", "--role", "viewer"}), HasSubstr("other than \"owner\""));
  EXPECT_FALSE(fs::exists(tokens()));
}

}  // namespace
}  // namespace praxis::testing

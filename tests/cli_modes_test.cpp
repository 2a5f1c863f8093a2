// What the commands write for themselves belongs to the user alone, with any umask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "net/testing/test_server.hpp"
#include "user_command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

constexpr const char* kRecordedReply =
    R"({"id":"r","model":"demo-1","choices":[{"index":0,"message":{"content":"Hello."},"finish_reason":"stop"}]})";

class CliModes : public UserCommandLine {
 protected:
  CommandResult under(const std::string& umask, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"};
    for (const std::string& word : command(arguments)) words.push_back(word);
    return as_user(words);
  }
  /// What others may use, or the user may not, in a folder that the commands made.
  static std::vector<std::string> open_to_others(const fs::path& top) {
    std::vector<std::string> open;
    const auto look = [&](const fs::path& path, bool is_folder) {
      struct stat about = {};
      const unsigned wanted = is_folder ? 0700 : 0600;
      if (lstat(path.c_str(), &about) != 0 || (about.st_mode & 0777U) != wanted) open.push_back(path);
    };
    look(top, true);
    for (const auto& entry : fs::recursive_directory_iterator(top)) look(entry.path(), entry.is_directory());
    return open;
  }
};

INSTANTIATE_TEST_SUITE_P(Users, CliModes, kBothUsers, user_name);

TEST_P(CliModes, EverythingIsTheUsersAloneUnderAnyUmask) {
  own_file("clone/notes.toml",
           "model = \"script:notes.jsonl\"\n[tools.kv]\n[tools.shell]\n[policy]\nallow = [\"shell\"]\nask = "
           "[\"kv\"]\n");
  own_file("clone/notes.jsonl",
           R"({"tool_calls": [{"name": "kv", "arguments": {"op": "put", "key": "k", "value": "v"}}]})"
           "\n{\"text\": \"DONE\"}\n");
  own_file("clone/.praxis/agents/helper.toml", "[tools.kv]\n");
  const TestServer server(
      [](const TestRequest&, TestConnection& to) { to.write(http_reply(200, kRecordedReply)); });
  options_.env["LLAMACPP_BASE_URL"] = server.url("/v1");
  const std::vector<std::string> record{"run", "Hi", "--model", "llamacpp:demo-1", "--record", "tape"};
  for (const std::string umask : {"0777", "0000", "0022"}) {
    SCOPED_TRACE(umask);
    for (const char* folder : {"home/.local", "home/.config", "clone/tape"}) fs::remove_all(folder_ / folder);
    EXPECT_EQ(under(umask, record).status, 0);
    const CommandResult run = under(umask, {"run", "notes.toml", "go"});
    EXPECT_EQ(run.status, 3) << run.err;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"approve", "p1", "--always", "--yes"},
          {"config", "set", "limits.max_steps", "7"},
          {"export", "last", "-o", "tape/run.jsonl"}}) {
      const CommandResult done = under(umask, words);
      EXPECT_EQ(done.status, 0) << words[0] << done.err;
    }
    const std::string digest = json_string(under(umask, {"trust", "show", "--json"}).last_line(), "digest");
    EXPECT_EQ(under(umask, {"trust", "accept", "--digest", digest}).status, 0) << digest;
    // Everything can be opened again.
    EXPECT_EQ(under(umask, record).status, 0);
    EXPECT_THAT(under(umask, {"runs"}).out, HasSubstr("notes"));
    EXPECT_THAT(under(umask, {"config", "show"}).out, HasSubstr("7"));
    for (const char* folder : {"home/.local", "home/.config", "clone/tape"}) {
      ASSERT_TRUE(fs::exists(folder_ / folder)) << folder;
      EXPECT_THAT(open_to_others(folder_ / folder), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace praxis::testing

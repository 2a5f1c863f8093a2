// `praxis stats` on waiting times, and as a page (docs/evals.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class StatsOfWaiting : public CommandLine {
 protected:
  Json waiting() const { return json_at(praxis({"stats", "--json"}).last_item(), "waiting"); }
};

TEST_F(StatsOfWaiting, Approval_IsTimeThatPeopleTook) {
  file("ask.jsonl",
       "{\"tool_calls\": [{\"name\": \"kv\", \"arguments\": {\"op\": \"put\", \"key\": \"a\", \"value\": "
       "\"b\"}}]}\n{\"text\": \"Noted.\"}\n");
  file("ask.toml", "model = \"script:ask.jsonl\"\n[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  ASSERT_EQ(praxis({"run", "ask.toml", "Note it"}).status, 3);
  EXPECT_LT(json_int(waiting(), "total_ms"), 300) << "a wait counts when it has ended";
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  ASSERT_EQ(praxis({"approve", "last/p1", "--allow"}).status, 0);
  const Json waited = waiting();
  EXPECT_GE(json_int(waited, "people_ms"), 400);
  EXPECT_EQ(json_int(waited, "total_ms"), json_int(waited, "people_ms"));
  EXPECT_THAT(praxis({"stats"}).out, HasSubstr("(people "));
}

TEST_F(StatsOfWaiting, Page_HasEachTableAndNoNameAsMarkup) {
  const std::string name = "<script>alert(1)<img src=x>.jsonl";
  file(name, "{\"text\": \"Done.\"}\n");
  const CommandResult ran = praxis({"run", "--model", "script:" + name, "Hi"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const CommandResult stats = praxis({"stats", "--html", "page.html", "--since", "1h"});
  ASSERT_EQ(stats.status, 0) << stats.err;
  const std::string page = contents("page.html");
  EXPECT_THAT(page, AllOf(HasSubstr("By agent"), HasSubstr("By tool"), HasSubstr("By tenant"),
                          HasSubstr("script:&lt;script&gt;alert(1)"), Not(HasSubstr("<script")),
                          Not(HasSubstr("<img"))));
  EXPECT_EQ(praxis({"stats", "--html", "none/page.html"}).status, 2);
}

}  // namespace
}  // namespace praxis::testing

// Messages that wait for an agent, at the server: `withdraw`, `move` and `compact`, and `waiting` of the
// tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using testing::Answer;
using ::testing::HasSubstr;
using testing::kAnna;
using testing::ServerTest;

using ServedWaiting = ServerTest;

TEST_F(ServedWaiting, MessagesAreMovedAndWithdrawnByTheirNumbers) {
  start();
  const std::string run = create("chat"), path = "/api/v1/runs/" + run;
  wait_for(run, "completed");
  const auto send = [&](const std::string& verb, const std::string& text) {
    const Json body{{"commands", JsonArray{JsonObject{{"verb", verb}, {"text", text}}}}};
    return call("POST", path + "/commands", to_json_text(body));
  };
  const auto waiting = [&] {
    const Answer tree = call("GET", path + "/tree");
    const Json node = json_at(tree.json, "nodes").as_array().at(0);
    return json_at(node, "waiting").as_array();
  };
  // For the next step of a turn that has ended: it stays until another turn begins.
  ASSERT_EQ(send("steer", "one").status, 202);
  ASSERT_EQ(send("steer", "two").status, 202);
  ASSERT_EQ(waiting().size(), 2U);
  EXPECT_EQ(json_string(waiting()[0], "verb"), "steer");
  const std::string one = to_plain_text(json_at(waiting()[0], "id"));
  const std::string two = to_plain_text(json_at(waiting()[1], "id"));
  EXPECT_EQ(send("move", two + " before " + one).status, 202);
  EXPECT_EQ(json_string(waiting()[0], "text"), "two");
  EXPECT_EQ(send("withdraw", two).status, 202);
  const Answer again = send("withdraw", two);
  EXPECT_GE(again.status, 400);
  EXPECT_THAT(again.body, HasSubstr("was withdrawn"));
  EXPECT_GE(send("move", "later").status, 400);
  EXPECT_EQ(
      call("POST", path + "/commands", R"({"commands":[{"verb":"withdraw","text":"1"}]})", kAnna).status,
      404);
  EXPECT_EQ(waiting().size(), 1U);
  EXPECT_EQ(send("compact", "").status, 202);
}

}  // namespace
}  // namespace praxis::server

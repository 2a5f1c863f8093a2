// The server as its clients see it, over real sockets and a real journal.
#include "server/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "praxis/journal/journal.hpp"
#include "server/routes.hpp"
#include "server/testing/served.hpp"
#include "server/testing/waiting_model.hpp"

namespace praxis::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing;

class ServedRuns : public ServerTest {};

TEST_F(ServedRuns, RunIsCreatedFinishedAndShown) {
  start();
  const std::string run = create("chat");
  const Answer shown = wait_for(run, "completed");
  EXPECT_EQ(shown.text("result"), "Hello there.");
  EXPECT_EQ(shown.text("termination"), "finished");
  const Answer listed = call("GET", "/api/v1/runs?agent=chat");
  ASSERT_EQ(json_at(listed.json, "runs").as_array().size(), 1U) << listed.body;
  EXPECT_EQ(json_string(json_at(listed.json, "runs").at(0), "id"), run);
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/messages").body, HasSubstr("Hello there."));
  EXPECT_EQ(json_at(call("POST", "/api/v1/runs/" + run + "/replay").json, "identical"), Json(true));
}

TEST_F(ServedRuns, NextTurnContinuesTheConversation) {
  script("chat", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}");
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  ASSERT_EQ(call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"and?"})").status, 202);
  const std::string path = "/api/v1/runs/" + run + "/events?event=assistant.text";
  const std::string first = stream(path, "assistant.text").back().id;
  EXPECT_THAT(stream(path, "assistant.text", first).back().data, HasSubstr("Two."));
}

TEST_F(ServedRuns, RunAtWorkTakesNoSecondTurn) {
  start();
  const std::string run = create("slow");
  const Answer busy = call("POST", "/api/v1/runs/" + run + "/messages", R"({"prompt":"and?"})");
  EXPECT_EQ(busy.status, 409);
  EXPECT_THAT(busy.text("detail"), HasSubstr("enqueue"));
}

TEST_F(ServedRuns, ManyClientsWithOneKeyCreateOneRun) {
  start();
  std::vector<std::string> ids(200);
  std::atomic<int> made = 0;
  {
    std::vector<std::jthread> clients;
    for (std::string& id : ids) {
      clients.emplace_back([&] {
        const Answer answer = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", kOwner,
                                   "Idempotency-Key: k1\r\n");
        made += answer.status == 201 ? 1 : 0;
        id = answer.text("id");
      });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1U);
  wait_for(ids[0], "completed");
  restart();
  const std::string body = R"({"prompt":"hi","agent":"chat"})";
  EXPECT_EQ(call("POST", "/api/v1/runs", body, kOwner, "Idempotency-Key: k1\r\n").text("id"), ids[0])
      << "also later";
  EXPECT_EQ(
      call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"no"})", kOwner, "Idempotency-Key: k1\r\n")
          .status,
      409);
  EXPECT_NE(call("POST", "/api/v1/runs", body, kAnna, "Idempotency-Key: k1\r\n").text("id"), ids[0])
      << "another principal";
}

TEST_F(ServedRuns, ForkAndRewindLeaveTheRunAsItWas) {
  start();
  const std::string run = create("chat");
  wait_for(run, "completed");
  const Answer forked = call("POST", "/api/v1/runs/" + run + "/fork", R"({"prompt":"otherwise"})");
  ASSERT_EQ(forked.status, 201) << forked.body;
  EXPECT_NE(forked.text("id"), run);
  EXPECT_THAT(forked.head, HasSubstr("Location: /api/v1/runs/" + forked.text("id")));
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/rewind", R"({"turn":"t1"})").status, 200);
  EXPECT_EQ(call("POST", "/api/v1/runs/" + run + "/rewind", R"({"turn":"t9"})").status, 400);
}

// ---- people

TEST_F(ServedRuns, DecisionContinuesTheRun) {
  asking_agent();
  start();
  const std::string run = create("ask");
  wait_for(run, "awaiting_user");
  const Answer waiting = call("GET", "/api/v1/pending");
  ASSERT_EQ(json_at(waiting.json, "pending").as_array().size(), 1U) << waiting.body;
  EXPECT_EQ(json_string(json_at(waiting.json, "pending").at(0), "tool"), "kv");
  const std::string step = "/api/v1/runs/" + run + "/steps/p1";
  EXPECT_EQ(call("POST", step, R"({"decision":"perhaps"})").status, 400);
  EXPECT_EQ(call("POST", step, R"({"decision":"allow"})").status, 200);
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Done.");
  EXPECT_EQ(call("POST", step, R"({"decision":"allow"})").status, 400) << "decided already";
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/messages").body, HasSubstr("\"by\":\"owner\""));
}

TEST_F(ServedRuns, DecisionAfterARestartContinuesTheRun) {
  asking_agent();
  start();
  const std::string run = create("ask");
  wait_for(run, "awaiting_user");
  restart();
  EXPECT_EQ(
      call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"deny","text":"not now"})").status,
      200);
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Done.");
}

TEST_F(ServedRuns, CommandsReachARunAtWork) {
  start();
  const std::string run = create("slow");
  const std::string commands = "/api/v1/runs/" + run + "/commands";
  for (const char* verb : {"pause", "unpause", "pause", "resume"}) {  // the last one is its name in records
    const std::string body = std::string(R"({"commands":[{"verb":")") + verb + R"("}]})";
    ASSERT_EQ(call("POST", commands, body).status, 202) << verb;
    const bool is_paused = std::string_view(verb) == "pause";
    EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/tree").body,
                HasSubstr(is_paused ? "\"paused\":true" : "\"paused\":false"));
  }
  EXPECT_EQ(call("POST", commands, R"({"commands":[{"verb":"annotate","text":"look"},{"verb":"interrupt"}]})")
                .status,
            202);
  wait_for(run, "cancelled");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + run + "/tree").body, HasSubstr("\"comment\":\"look\""));
  EXPECT_EQ(call("POST", commands, R"({"commands":[{"verb":"budget"}]})").status, 400)
      << "only the runtime sends it";
  EXPECT_EQ(call("POST", commands, R"({"commands":[]})").status, 400);
}

// ---- events

class ServedEvents : public ServerTest {
 protected:
  static std::vector<Sent> durable(std::vector<Sent> events) {
    std::erase_if(events, [](const Sent& sent) { return sent.id.empty(); });
    return events;
  }
};

TEST_F(ServedEvents, ClientThatComesBackMissesNothingAndGetsNothingTwice) {
  start();
  const std::string run = create("chat");
  const std::string path = "/api/v1/runs/" + run + "/events";
  const auto all = durable(stream(path, "turn.completed"));
  ASSERT_GE(all.size(), 7U);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const std::vector<Sent> rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
    EXPECT_EQ(durable(stream(path, "turn.completed", all[i].id)), rest) << "after " << all[i].id;
    restart();
    EXPECT_EQ(durable(stream(path, "turn.completed", all[i].id)), rest)
        << "after " << all[i].id << ", as the first client of a new server";
  }
}

TEST_F(ServedEvents, ManyObserversGetTheSame) {
  script("chat", R"({"text":"Hello there, all of you who look.","chunk":4,"delay_ms":50})");
  start();
  const std::string run = create("chat");
  std::vector<std::vector<Sent>> seen(30);
  {
    std::vector<std::jthread> clients;
    for (auto& events : seen) {
      clients.emplace_back([&] { events = stream("/api/v1/runs/" + run + "/events", "turn.completed"); });
    }
  }
  for (const auto& events : seen) EXPECT_EQ(durable(events), durable(seen[0]));
}

TEST_F(ServedEvents, TransientEventsComeBeforeTheRecordsThatFollowThem) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  RawClient client(server_->port());
  client.send(request("GET", "/api/v1/runs/" + create("live") + "/events", {}, kOwner));
  client.read_until("event: text.delta\n");
  model.end();
  std::string text;
  for (const Sent& sent : events_in(client.read_until("event: turn.completed\n"))) {
    const Json data = parse_json(sent.data).value();
    if (sent.event == "text.delta") text += json_string(data, "text");
    if (sent.event == "assistant.text") {
      EXPECT_EQ(json_string(data, "text"), text);
    }
  }
  EXPECT_EQ(text, "Hello there.");
}

TEST_F(ServedEvents, FilterSelectsByNameAndTree) {
  start();
  const std::string first = create("chat");
  wait_for(first, "completed");
  const std::string second = create("chat");
  wait_for(second, "completed");
  const auto turns = stream("/api/v1/runs/" + second + "/events?event=turn.*&deltas=false", "turn.completed");
  ASSERT_EQ(turns.size(), 2U);
  for (const Sent& sent : turns) EXPECT_THAT(sent.data, HasSubstr(second));
  EXPECT_EQ(call("GET", "/api/v1/runs/" + first + "/events?event=trun.completed").status, 400);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + first + "/events?after=x").status, 400);
  std::set<std::string> sessions;
  for (const Sent& sent : stream("/api/v1/events?after=0&event=turn.completed", "turn.completed"))
    sessions.insert(json_string(parse_json(sent.data).value(), "session"));
  EXPECT_EQ(sessions, std::set<std::string>{first});
}

TEST_F(ServedEvents, StreamOfASubAgentHasNothingOfThoseAboveIt) {
  script("lead",
         "{\"tool_calls\":[{\"name\":\"helper\",\"arguments\":{\"prompt\":\"help\"}}]}\n{\"text\":\"Led.\"}");
  script("helper", R"({"text":"Helped."})");
  agent("helper", "");
  agent("lead", "[agents.helper]\nfile = \"helper.toml\"\ndescription = \"Helps\"\n");
  start();
  const std::string run = create("lead");
  wait_for(run, "completed");
  std::string helper;
  const Answer tree = call("GET", "/api/v1/runs/" + run + "/tree");
  for (const Json& node : json_at(tree.json, "nodes").as_array()) {
    if (json_string(node, "parent") == run) helper = json_string(node, "id");
  }
  ASSERT_FALSE(helper.empty());
  for (const Sent& sent : stream("/api/v1/runs/" + helper + "/events", "turn.completed"))
    EXPECT_THAT(sent.data, HasSubstr("\"session\":\"" + helper + "\"")) << sent.event;
  std::set<std::string> sessions;
  for (const Sent& sent :
       stream("/api/v1/runs/" + run + "/events?event=child.settled&event=assistant.text", "child.settled"))
    sessions.insert(json_string(parse_json(sent.data).value(), "session"));
  EXPECT_TRUE(sessions.contains(helper)) << "a run has those below it";
}

TEST_F(ServedEvents, EndOfTheServerIsAnEvent) {
  start();
  const std::string run = create("slow");
  RawClient client(server_->port());
  client.send(request("GET", "/api/v1/runs/" + run + "/events", {}, kOwner));
  client.read_until("event: model.requested");
  server_->drain(std::chrono::milliseconds(0));
  EXPECT_THAT(client.read_all(), HasSubstr("event: shutdown"));
  EXPECT_TRUE(client.closed());
}

// A turn does not keep its server, whichever request began it: at the end of the server all is given back.
TEST_F(ServedEvents, EndOfTheServerIsNotHeldUpByTurns) {
  script("long", R"({"text":"At last.","delay_ms":600000})");
  agent("long", "");
  start();
  stream("/api/v1/runs/" + create("long") + "/events", "model.requested");
  RawClient client(server_->port());
  client.send(request("POST", "/api/agui/long",
                      R"({"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"hi"}]})",
                      kOwner));
  client.read_until("STEP_STARTED");
  EXPECT_FALSE(await_closed_journals(std::chrono::milliseconds(0)));
  server_.reset();
  EXPECT_TRUE(await_closed_journals(std::chrono::minutes(1)));
}

TEST_F(ServedEvents, RunThatTheServerLeftIsTakenUp) {
  script("later", R"({"text":"At last.","delay_ms":300})");
  agent("later", "");
  start();
  const std::string run = create("later");
  stream("/api/v1/runs/" + run + "/events", "model.requested");
  restart();
  EXPECT_EQ(wait_for(run, "completed").text("result"), "At last.");
}

TEST_F(ServedEvents, ObserverThatComesLateGetsTheAnswerSoFarAsOnePiece) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  const std::string run = create("live");
  const std::string path = "/api/v1/runs/" + run + "/events?event=text.delta";
  RawClient early(server_->port());
  early.send(request("GET", path, {}, kOwner));
  early.read_until("there\"");
  RawClient late(server_->port());
  late.send(request("GET", path, {}, kOwner));
  EXPECT_THAT(late.read_until("there"), HasSubstr("\"text\":\"Hello there\""));
  model.end();
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Hello there.");
  late.read_until("\"text\":\".\"");
  EXPECT_EQ(events_in(late.read_until("\"item\":0}\n\n") + "\n\n").size(), 2U);
}

TEST_F(ServedEvents, CommandInTheMiddleOfAnAnswerTakesNothingFromObservers) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  const std::string run = create("live");
  const std::string path = "/api/v1/runs/" + run;
  RawClient early(server_->port());
  early.send(request("GET", path + "/events", {}, kOwner));
  early.read_until("there\"");
  RawClient second(server_->port());
  second.send(request("GET", path + "/events?event=text.delta", {}, kOwner));
  second.read_until("Hello there");
  ASSERT_EQ(call("POST", path + "/commands", R"({"commands":[{"verb":"steer","text":"be brief"}]})").status,
            202);
  early.read_until("be brief");
  RawClient third(server_->port());
  third.send(request("GET", path + "/events?event=text.delta", {}, kOwner));
  EXPECT_THAT(third.read_until("there"), HasSubstr("\"text\":\"Hello there\""));
  model.end();
  for (RawClient* const client : {&second, &third})
    EXPECT_THAT(client->read_until("\"text\":\".\""), HasSubstr("\"text\":\".\""));
}

TEST_F(ServedEvents, ClientWithAnIdThatNeverWasKeepsNothingFromOthers) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  wait_for(create("chat"), "completed");
  RawClient ahead(server_->port());
  ahead.send(request("GET", "/api/v1/events", {}, kOwner, "Last-Event-ID: 999999.0\r\n"));
  ahead.read_until("text/event-stream");
  const std::string run = create("live");
  RawClient other(server_->port());
  other.send(request("GET", "/api/v1/runs/" + run + "/events?after=0", {}, kOwner));
  EXPECT_THAT(other.read_until("there\""), HasSubstr("there\"")) << "what no record holds";
  model.end();
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Hello there.");
}

TEST_F(ServedEvents, ObserverThatComesAfterTheNewestRunWasRemovedIsGivenWhatHappens) {
  WaitingModel model;
  agent("live", kExactEvents, "compatible:m");
  start();
  const std::string run = create("live");
  RawClient early(server_->port());
  early.send(request("GET", "/api/v1/events?after=0", {}, kOwner));
  early.read_until("there\"");
  const std::string removed = create("chat");
  wait_for(removed, "completed");
  early.read_until("\"turn.completed\"");
  const auto journal = sqlite_journal((folder_ / "runs.db").string());
  ASSERT_TRUE(journal) << journal.error().message;
  // The server lets go of the run a moment after its end.
  bool is_gone = false;
  for (int tries = 0; tries < 2000 && !is_gone; ++tries) {
    is_gone = (*journal)->remove(SessionId(removed)).has_value();
    if (!is_gone) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(is_gone);
  RawClient late(server_->port());
  late.send(request("GET", "/api/v1/events?after=0", {}, kOwner));
  EXPECT_THAT(late.read_until("Hello there"), HasSubstr("\"text\":\"Hello there\""));
  model.end();
  EXPECT_EQ(wait_for(run, "completed").text("result"), "Hello there.");
}

// ---- the fifth design

TEST_F(ServedEvents, PathsOfTheFifthDesign) {
  start();
  RawClient client(server_->port());
  client.send(request("GET", "/agent/stream?prompt=hi&agent=chat", {}, kOwner));
  const std::string& all = client.read_all();
  EXPECT_TRUE(client.closed()) << "the stream ends with the turn";
  EXPECT_THAT(all, AllOf(HasSubstr(R"({"type":"text-delta","textDelta":"Hell)"),
                         HasSubstr(R"("type":"finish")"), HasSubstr(R"("type":"agent-state")")));
  const std::string run = create("slow");
  EXPECT_THAT(call("GET", "/agent/tree").body, HasSubstr(run));
  EXPECT_EQ(call("GET", "/agent/" + run).text("content"), "hi");
  EXPECT_EQ(call("GET", "/agent/missing").json, Json(JsonObject{{"error", "Not found"}}));
  const std::string intervene = "/agent/" + run + "/intervene";
  EXPECT_EQ(call("POST", intervene, R"({"userComment":"careful"})").json,
            Json(JsonObject{{"success", true}}));
  EXPECT_EQ(call("GET", "/agent/" + run).text("userComment"), "careful");
  EXPECT_EQ(call("POST", "/agent/missing/intervene", R"({"userComment":"x"})").json,
            Json(JsonObject{{"success", false}}));
  const char* const combined =
      R"({"userComment":"delete","userContent":"new instructions","status":"running"})";
  EXPECT_EQ(call("POST", intervene, combined).json, Json(JsonObject{{"success", true}}));
  wait_for(run, "deleted");
  EXPECT_EQ(call("GET", "/agent/" + run).text("userComment"), "new instructions");
}

// ---- the description

TEST(HttpApiPage, NamesEveryRequestAndMember) {
  std::ifstream file(PRAXIS_SOURCE_DIR "/docs/http-api.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);) {
    const bool is_request = std::ranges::any_of(std::array{"| `GET ", "| `POST ", "| `DELETE "},
                                                [&](const char* begins) { return line.starts_with(begins); });
    if (!is_request) continue;
    rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  for (const Route& route : routes()) {
    const std::string name = std::string(route.method) + " " + std::string(route.path);
    ASSERT_TRUE(rows.contains(name)) << name;
    for (const auto fields : {route.query, route.body}) {
      for (const Field& field : fields)
        EXPECT_THAT(rows[name], ::testing::ContainsRegex("`" + std::string(field.name) + "[`=]")) << name;
    }
    rows.erase(name);
  }
  for (const auto& [name, row] : rows) ADD_FAILURE() << "the server does not know " << name;
}

TEST_F(ServedRuns, DescriptionHasEveryRequestAndMember) {
  start();
  const Json description = call("GET", "/api/v1/openapi.json", "", "").json;
  EXPECT_EQ(json_string(description, "openapi"), "3.1.0");
  std::size_t operations = 0;
  for (const auto& path : json_at(description, "paths").as_object())
    operations += path.value().as_object().size();
  EXPECT_EQ(operations, routes().size());
  for (const Route& route : routes()) {
    const Json& path = json_at(json_at(description, "paths"), route.path);
    std::string method(route.method);
    std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    const Json& operation = json_at(path, method);
    ASSERT_TRUE(operation.is_object()) << route.path;
    const Json& schema =
        json_at(json_at(json_at(json_at(operation, "requestBody"), "content"), "application/json"), "schema");
    for (const Field& field : route.body) {
      EXPECT_EQ(json_string(json_at(json_at(schema, "properties"), field.name), "type"), field.type)
          << route.path;
    }
    EXPECT_EQ(operation.as_object().contains("security"), !route.needs_token) << route.path;
  }
}

}  // namespace
}  // namespace praxis::server

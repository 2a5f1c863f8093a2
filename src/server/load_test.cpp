// What clients may ask of the server: rates, turns at work, people who are waited for, memory.
#include "server/load.hpp"

#include <gmock/gmock.h>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// A clock that the test moves.
class HandClock final : public Environment {
 public:
  UnixMillis now() override { return {}; }
  std::chrono::nanoseconds monotonic() override { return at; }
  std::uint64_t random() override { return 0; }

  std::chrono::nanoseconds at = 1h;
};

struct LoadOf {
  explicit LoadOf(LoadBounds bounds)
      : load(std::make_shared<Load>(bounds, clock, [this] { return memory; })) {}

  /// The seconds after which a refused request may come again; 0: it is accepted.
  std::int64_t pause(const std::string& token, std::uint64_t bytes = 0) const {
    return pause_of(load->take(token, bytes));
  }
  static std::int64_t pause_of(const auto& result) {
    return result ? 0 : json_int(result.error().detail(), "retry_after");
  }

  std::shared_ptr<HandClock> clock = std::make_shared<HandClock>();
  std::uint64_t memory = 0;
  std::shared_ptr<Load> load;
};

TEST(LoadTest, WithoutBoundsNothingIsRefused) {
  LoadOf of({});
  of.memory = UINT64_MAX;
  std::vector<Load::Slot> slots;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(of.pause("anna", UINT32_MAX), 0);
    auto slot = of.load->begin_turn("anna", {1000, 1000});
    ASSERT_TRUE(slot);
    slots.push_back(*slot);
  }
}

TEST(LoadTest, RequestsOfATokenComeAgainAtTheirRate) {
  LoadOf of({.token = {.requests = 2}, .total = {}});
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("anna"), 1);
  EXPECT_EQ(of.pause("bert"), 0) << "each token has its own";
  of.clock->at += 500ms;
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("anna"), 1);
  of.clock->at += 1h;
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("anna"), 1) << "an hour of silence saves no more than a second";
}

TEST(LoadTest, RequestsOfAllTokensTogetherAreBounded) {
  LoadOf of({.token = {}, .total = {.requests = 2}});
  EXPECT_EQ(of.pause("anna"), 0);
  EXPECT_EQ(of.pause("bert"), 0);
  EXPECT_EQ(of.pause("anna"), 1);
}

TEST(LoadTest, BodyLongerThanTheRateIsTakenAndFollowedByAPause) {
  LoadOf of({.token = {.bytes = 100}, .total = {}});
  EXPECT_EQ(of.pause("anna", 500), 0) << "or it could never be sent";
  EXPECT_EQ(of.pause("anna", 100), 5) << "the time that is said is the time that it takes";
  of.clock->at += 4900ms;
  EXPECT_EQ(of.pause("anna", 100), 1);
  of.clock->at += 100ms;
  EXPECT_EQ(of.pause("anna", 100), 0);
}

TEST(LoadTest, TurnsAtWorkAreCountedUntilTheyEnd) {
  LoadOf of({.token = {.turns = 1}, .total = {.turns = 2}});
  auto annas = of.load->begin_turn("anna", {}), berts = of.load->begin_turn("bert", {});
  ASSERT_TRUE(annas && berts);
  const auto second = of.load->begin_turn("anna", {});
  EXPECT_EQ(LoadOf::pause_of(second), 1);
  EXPECT_THAT(second.error().message, HasSubstr("this token has as many turns at work as allowed, 1"));
  EXPECT_THAT(of.load->begin_turn("carl", {}).error().message,
              HasSubstr("all clients together have as many turns at work as allowed, 2"));
  annas->reset();
  of.clock->at += 8s;
  berts->reset();  // turns end every eight seconds
  const auto carls = of.load->begin_turn("carl", {}), dora = of.load->begin_turn("dora", {});
  ASSERT_TRUE(carls && dora);
  EXPECT_EQ(LoadOf::pause_of(of.load->begin_turn("anna", {})), 8);
}

TEST(LoadTest, TurnsBeyondTheBoundWaitInOrderUntilOthersEnd) {
  LoadOf of({.token = {.turns = 1, .queue = 2}, .total = {.turns = 2, .queue = 3}});
  std::vector<std::string> begun;
  std::vector<Load::Slot> slots;
  const auto begin = [&](const std::string& token, const std::string& name) {
    return of.load->begin_turn(token, {}, [&, name](Load::Slot slot) {
      begun.push_back(name);
      slots.push_back(std::move(slot));
    });
  };
  auto annas = begin("anna", "a1"), berts = begin("bert", "b1");
  ASSERT_TRUE(annas && *annas && berts && *berts);
  for (const auto& [token, name] : {std::pair{"anna", "a2"}, {"anna", "a3"}, {"bert", "b2"}}) {
    const auto waits = begin(token, name);
    ASSERT_TRUE(waits);
    EXPECT_FALSE(*waits) << name << " has no slot yet";
  }
  EXPECT_EQ(of.load->queued(), 3U);
  EXPECT_FALSE(begin("anna", "a4")) << "two of anna wait";
  EXPECT_FALSE(begin("carl", "c1")) << "three wait in total";
  EXPECT_FALSE(of.load->begin_turn("dora", {})) << "who cannot wait is refused";
  berts->reset();
  EXPECT_THAT(begun, ::testing::ElementsAre("b2")) << "anna has her turn at work";
  annas->reset();
  EXPECT_THAT(begun, ::testing::ElementsAre("b2", "a2"));
  slots.back().reset();
  EXPECT_THAT(begun, ::testing::ElementsAre("b2", "a2", "a3"));
  EXPECT_EQ(of.load->queued(), 0U);
}

TEST(LoadTest, RunsThatWaitForPeopleAreBounded) {
  LoadOf of({.token = {.waiting = 3}, .total = {.waiting = 5}});
  EXPECT_TRUE(of.load->begin_turn("anna", {2, 4}));
  EXPECT_THAT(of.load->begin_turn("anna", {3, 4}).error().message,
              HasSubstr("runs that wait for people as allowed, 3"));
  EXPECT_THAT(of.load->begin_turn("anna", {0, 5}).error().message,
              HasSubstr("runs that wait for people as allowed, 5"));
}

TEST(LoadTest, MemoryBeyondTheBoundKeepsNewTurnsOut) {
  LoadOf of({.token = {}, .total = {}, .memory = 1000});
  of.memory = 1000;
  EXPECT_TRUE(of.load->begin_turn("anna", {}));
  of.memory = 1001;
  const auto refused = of.load->begin_turn("anna", {});
  EXPECT_EQ(refused.error().kind(), ErrorKind::kOverloaded);
  EXPECT_EQ(LoadOf::pause_of(refused), 10);
  EXPECT_GT(resident_memory(), 1'000'000U);
}

TEST(LoadTest, BoundsAreReadByName) {
  LoadBounds bounds;
  for (const char* text :
       {"requests=20", "total-bytes=10MiB", "turns=3", "total-waiting=0", "total-queue=7", "memory=2GiB"})
    EXPECT_TRUE(read_bound(text, bounds)) << text;
  EXPECT_EQ(bounds.token.requests, 20U);
  EXPECT_EQ(bounds.total.bytes, 10U << 20);
  EXPECT_EQ(bounds.token.turns, 3U);
  EXPECT_EQ(bounds.total.queue, 7U);
  EXPECT_EQ(bounds.memory, 2ULL << 30);
  for (const char* text : {"", "requests", "requests=", "requests=-1", "requests=2MiB", "speed=3",
                           "total-memory=1", "bytes=1KB", "memory=99999999999GiB", "total-=1"})
    EXPECT_FALSE(read_bound(text, bounds)) << text;
}

class ServedLoad : public testing::ServerTest {};

TEST_F(ServedLoad, RequestBeyondTheRateIsToldWhenToComeAgain) {
  ServerOptions options;
  options.load.token.requests = 2;
  start(std::move(options));
  std::vector<int> statuses;
  for (int i = 0; i < 8; ++i) statuses.push_back(call("GET", "/api/v1/agents", {}, testing::kAnna).status);
  EXPECT_GE(std::ranges::count(statuses, 200), 2);
  ASSERT_GE(std::ranges::count(statuses, 429), 1);
  for (int i = 0; i < 3; ++i) call("GET", "/api/v1/agents", {}, testing::kAnna);
  const auto refused = call("GET", "/api/v1/agents", {}, testing::kAnna);
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 1"));
  EXPECT_THAT(refused.text("detail"), HasSubstr("2 requests a second"));
  EXPECT_EQ(call("GET", "/api/v1/agents", {}, testing::kBert).status, 200) << "others are served";
  EXPECT_EQ(call("GET", "/healthz").status, 200);
}

TEST_F(ServedLoad, TurnBeyondThoseAtWorkIsRefusedAndLeavesNothing) {
  ServerOptions options;
  options.load.token.turns = 1;
  start(std::move(options));
  const std::string run = create("slow", testing::kAnna);
  const auto second = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", testing::kAnna);
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(call("GET", "/api/v1/runs").json.at("runs").get_array().size(), 1U);
  call("POST", "/api/v1/runs/" + run + "/commands", R"({"commands":[{"verb":"interrupt"}]})", testing::kAnna);
  wait_for(run, "cancelled");
  wait_for(create("chat", testing::kAnna), "completed");
}

TEST_F(ServedLoad, RunBeyondTheTurnsAtWorkIsQueuedInTheJournal) {
  ServerOptions options;
  options.load.token = {.turns = 1, .queue = 1};
  start(std::move(options));
  const std::string busy = create("slow", testing::kAnna), waits = create("chat", testing::kAnna);
  const auto shown = call("GET", "/api/v1/runs/" + waits, {}, testing::kAnna);
  EXPECT_EQ(shown.text("status"), "queued") << shown.body;
  const auto listed = call("GET", "/api/v1/runs?status=queued", {}, testing::kAnna);
  ASSERT_EQ(listed.json.at("runs").get_array().size(), 1U) << listed.body;
  EXPECT_THAT(call("GET", "/metrics").body, HasSubstr("praxis_runs_queued 1\n"));
  const auto third = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", testing::kAnna);
  EXPECT_EQ(third.status, 429) << "the queue is full";
  EXPECT_THAT(third.head, HasSubstr("Retry-After: "));
  const std::string unpause = R"({"commands":[{"verb":"unpause"}]})";
  EXPECT_EQ(call("POST", "/api/v1/runs/" + waits + "/commands", unpause, testing::kAnna).status, 409);
  call("POST", "/api/v1/runs/" + busy + "/commands", R"({"commands":[{"verb":"interrupt"}]})",
       testing::kAnna);
  wait_for(waits, "completed");
  EXPECT_EQ(call("POST", "/api/v1/runs/" + waits + "/replay").json.at("identical"), Json(true));
}

TEST_F(ServedLoad, QueuedRunBeginsAfterARestart) {
  ServerOptions options;
  options.load.token = {.turns = 1, .queue = 1};
  start(std::move(options));
  create("slow", testing::kAnna);
  const std::string waits = create("chat", testing::kAnna);
  EXPECT_EQ(call("GET", "/api/v1/runs/" + waits, {}, testing::kAnna).text("status"), "queued");
  restart();
  wait_for(waits, "completed");
}

TEST_F(ServedLoad, QueuedRunThatIsStoppedGivesItsPlaceToTheNext) {
  ServerOptions options;
  options.load.token = {.turns = 1, .queue = 2};
  start(std::move(options));
  const std::string busy = create("slow", testing::kAnna), stopped = create("chat", testing::kAnna),
                    next = create("chat", testing::kAnna);
  const std::string stop = R"({"commands":[{"verb":"interrupt"}]})";
  call("POST", "/api/v1/runs/" + stopped + "/commands", stop, testing::kAnna);
  wait_for(stopped, "cancelled");
  call("POST", "/api/v1/runs/" + busy + "/commands", stop, testing::kAnna);
  wait_for(next, "completed");
}

TEST_F(ServedLoad, TurnThatIsRefusedTakesNoEarlierOneBack) {
  script("turns", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}");
  agent("turns", "");
  ServerOptions options;
  options.load.token.turns = 1;
  start(std::move(options));
  const auto said = [&](std::string_view more) {
    return R"({"id":"c1","agent":"turns","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}]}])" +
           std::string(more) + "}";
  };
  EXPECT_EQ(call("POST", "/api/ai/chat", said(""), testing::kAnna).status, 200);
  const std::string busy = create("slow", testing::kAnna);
  EXPECT_EQ(call("POST", "/api/ai/chat", said(R"(,"trigger":"regenerate-message")"), testing::kAnna).status,
            429);
  const auto runs = call("GET", "/api/v1/runs", {}, testing::kAnna).json.at("runs").get_array();
  const std::string chat =
      json_string(runs[0], "id") == busy ? json_string(runs[1], "id") : json_string(runs[0], "id");
  EXPECT_THAT(call("GET", "/api/v1/runs/" + chat + "/messages", {}, testing::kAnna).body, HasSubstr("One."));
}

TEST_F(ServedLoad, ServerWithoutRoomForMoreGoesOnWithWhatItHas) {
  asking_agent();
  ServerOptions options;
  options.load.token.waiting = 1;
  start(std::move(options));
  const std::string run = create("ask", testing::kAnna);
  wait_for(run, "awaiting_user");
  EXPECT_EQ(call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})", testing::kAnna).status, 429);
  wait_for(create("chat", testing::kBert), "completed");
  EXPECT_EQ(
      call("POST", "/api/v1/runs/" + run + "/steps/p1", R"({"decision":"allow"})", testing::kAnna).status,
      200);
  wait_for(run, "completed");
  wait_for(create("chat", testing::kAnna), "completed");
}

TEST_F(ServedLoad, RunsThatBeginAndEndAtOnceAreCountedWithoutWaitingForEachOther) {
  ServerOptions options;
  options.load.token.waiting = 1'000;
  start(std::move(options));
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([this] {
        for (int run = 0; run < 25; ++run) create("chat", testing::kAnna);
      });
    }
  }
  wait_for(create("chat", testing::kAnna), "completed");
}

TEST_F(ServedLoad, MemoryBeyondTheBoundIsAnErrorOfTheServer) {
  ServerOptions options;
  options.load.memory = 1;
  start(std::move(options));
  const auto refused = call("POST", "/api/v1/runs", R"({"agent":"chat","prompt":"hi"})");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.head, HasSubstr("Retry-After: 10"));
}

}  // namespace
}  // namespace praxis::server

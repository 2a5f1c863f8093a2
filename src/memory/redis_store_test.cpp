// What is particular to a memory in Redis; stores_test.cpp and server_stores_test.cpp have what it shares.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "memory/testing/redis_server.hpp"
#include "praxis/memory/retention.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RedisServer;
using ::testing::SizeIs;

class RedisMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_REDIS();
    address_ = RedisServer::shared()->new_database();
  }
  /// What the server answers to a command.
  RedisReply asked(const std::vector<std::string_view>& command) const {
    auto connection = RedisConnection::open(RedisAddress::parse(address_).value());
    return connection.value().run(command).value();
  }
  std::string address_;
};

TEST_F(RedisMemory, ServerThatIsKilledBetweenWrites_KeepsWhatWasAcknowledgedOnce) {
  const auto server = RedisServer::start_new();
  ASSERT_TRUE(server);
  const std::string address = server->new_database();
  const auto clients = redis_memory(address).value();
  constexpr int kEntries = 300, kKills = 3;
  std::atomic<int> written = 0;
  std::set<std::string> acknowledged;  // of writes without a key
  std::jthread writer([&] {
    for (int i = 0; i < kEntries; ++i) {
      while (!clients.memory->append("log", Json(i), {"effect " + std::to_string(i)}))
        std::this_thread::yield();
      const std::string key = std::to_string(i);
      if (clients.database->write("facts", key, Json(i))) acknowledged.insert(key);
      ++written;
      written.notify_all();
    }
  });
  for (int kill = 1; kill <= kKills; ++kill) {
    for (int seen = written; seen < kill * kEntries / (kKills + 1); seen = written) written.wait(seen);
    server->stop(SIGKILL);
    ASSERT_TRUE(server->start());
  }
  writer.join();
  const auto entries = clients.memory->read("log", {1000, ""}).value();
  ASSERT_THAT(entries, SizeIs(kEntries)) << "none is lost or double";
  for (int i = 0; i < kEntries; ++i)
    EXPECT_EQ(entries[static_cast<std::size_t>(i)].value, Json(i)) << "in the order of writing";
  std::set<std::string> there;
  for (const Note& note : clients.database->query("facts", {}, {1000, "", false}).value())
    there.insert(note.key);
  EXPECT_TRUE(std::ranges::includes(there, acknowledged));
  EXPECT_THAT(clients.database->collections().value(), SizeIs(1));
  EXPECT_EQ(clients.database->collections().value()[0].notes, there.size());
}

TEST_F(RedisMemory, WhatIsRemoved_IsInNoKey) {
  const auto clients = redis_memory(address_).value();
  ASSERT_TRUE(clients.database->write("canary1", "canary2", "canary3"));
  ASSERT_TRUE(clients.database->write("canary1", "canary4", "canary5"));
  ASSERT_TRUE(clients.memory->append("canary6", "canary7"));
  EXPECT_EQ(clients.database->remove("canary1", "canary2").value(), true);
  EXPECT_EQ(clients.database->remove("canary1", std::nullopt).value(), true);
  EXPECT_EQ(clients.memory->clear("canary6").value(), true);
  EXPECT_EQ(asked({"DBSIZE"}).number, 1) << "only the numbers of the memory are left";
  EXPECT_EQ(asked({"HGET", "praxis:memory:meta", "notes"}).text, "0");
  EXPECT_EQ(asked({"HGET", "praxis:memory:meta", "bytes"}).text, "0");
}

TEST_F(RedisMemory, Sweep_RemovesTheOldest) {
  const auto clients = redis_memory(address_).value();
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(clients.database->write("facts", std::to_string(9 - i), Json(i)));
  Retention retention;
  retention.max_notes = 2;
  SweepOptions options;
  options.batch = 3;
  EXPECT_EQ(sweep(*clients.database, "facts", retention, options).value().removed, 7U);
  const auto left = clients.database->query("facts").value();
  ASSERT_THAT(left, SizeIs(2));
  EXPECT_THAT((std::vector{left[0].key, left[1].key}), ElementsAre("1", "2"));
}

TEST_F(RedisMemory, Change_IsMadeWholeOrNotAtAll) {
  MemoryOptions options;
  options.limits.max_notes = 3;
  const auto clients = redis_memory(address_, MemoryUse::kCreate, options).value();
  ASSERT_TRUE(clients.database->change("facts", {{{"a", 1}, {"b", 2}, {"a", 3}}, {}}, {"S/e1"}));
  EXPECT_EQ(clients.database->read("facts", "a").value()->value, Json(3)) << "the last of two";
  EXPECT_EQ(clients.database->change("facts", {{{"c", 1}, {"d", 2}, {"e", 3}}, {"a"}}).error().code,
            ErrorCode::kLimit);
  EXPECT_THAT(clients.database->query("facts").value(), SizeIs(2));
  EXPECT_TRUE(clients.database->change("facts", {{{"c", 1}, {"d", 2}}, {"a"}}));
  EXPECT_TRUE(clients.database->change("facts", {{}, {"b", "c", "d"}}, {"S/e1"})) << "known: not made";
  EXPECT_THAT(clients.database->query("facts").value(), SizeIs(3));
}

TEST_F(RedisMemory, OldEffects_AreForgottenBeyondTheLastHundredThousand) {
  const auto clients = redis_memory(address_).value();
  ASSERT_TRUE(clients.database->write("facts", "a", "first", {"old"}));
  ASSERT_TRUE(clients.database->write("facts", "a", "second", {"new"}));
  std::ignore = asked({"EVAL", "for i = 1, 99998 do redis.call('ZADD', KEYS[1], 3.5, 'e' .. i) end return 1",
                       "1", "praxis:memory:effects"});
  ASSERT_TRUE(clients.database->write("facts", "a", "third", {"next"}));
  EXPECT_EQ(asked({"ZCARD", "praxis:memory:effects"}).number, 100'000);
  ASSERT_TRUE(clients.database->write("facts", "a", "again", {"old"}));
  EXPECT_EQ(clients.database->read("facts", "a").value()->value, Json("again"));
}

TEST_F(RedisMemory, Search_ReadsTheNewestTwentyThousand) {
  const auto clients = redis_memory(address_).value();
  constexpr int kNotes = 20'000;
  NoteChanges changes;
  changes.writes.emplace_back("oldest", "hidden needle");
  for (int i = 0; i < kNotes; ++i) changes.writes.emplace_back(std::to_string(i), "some hay");
  ASSERT_TRUE(clients.database->change("facts", std::move(changes)));
  EXPECT_THAT(clients.database->search("needle").value(), SizeIs(0));
  ASSERT_TRUE(clients.database->remove("facts", "0"));
  EXPECT_THAT(clients.database->search("needle").value(), SizeIs(1));
}

TEST_F(RedisMemory, Password_IsNeededAndNeverShown) {
  const auto server = RedisServer::start_new({"--requirepass", "canary77"});
  ASSERT_TRUE(server);
  const auto at = [&](const std::string& login) { return "redis+unix://" + login + server->socket(); };
  EXPECT_TRUE(redis_memory(at(":canary77@")));
  EXPECT_TRUE(redis_memory(at("default:canary77@")));
  for (const char* login : {"", ":canary88@", "ann:canary77@"}) {
    const auto refused = redis_memory(at(login));
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, AllOf(HasSubstr("REDISCLI_AUTH"), Not(HasSubstr("canary"))));
  }
  const auto missing = redis_memory("redis://:canary77@127.0.0.1:1");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr("memory redis://127.0.0.1:1/0: "), Not(HasSubstr("canary"))));
}

TEST_F(RedisMemory, NewerFormat_IsRefused) {
  ASSERT_TRUE(redis_memory(address_));
  std::ignore = asked({"HSET", "praxis:memory:meta", "version", "2"});
  EXPECT_EQ(redis_memory(address_).error().kind(), ErrorKind::kVersion);
}

TEST_F(RedisMemory, ServerWithoutRoom_SaysSoAndKeepsWhatIsThere) {
  const auto server = RedisServer::start_new();
  ASSERT_TRUE(server);
  address_ = server->new_database();
  const auto clients = redis_memory(address_).value();
  ASSERT_TRUE(clients.database->write("facts", "a", "kept"));
  std::ignore = asked({"CONFIG", "SET", "maxmemory", "1"});
  const auto refused = clients.database->write("facts", "b", "lost");
  EXPECT_EQ(refused.error().kind(), ErrorKind::kFull);
  EXPECT_EQ(clients.database->read("facts", "a").value()->value, Json("kept"));
  std::ignore = asked({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_FALSE(clients.database->read("facts", "b").value());
}

}  // namespace
}  // namespace praxis

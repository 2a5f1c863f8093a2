// What is particular to a memory in a PostgreSQL database; stores_test.cpp has what it shares with the
// others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>
#include <vector>

#include "journal/testing/postgres_server.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using testing::PostgresServer;

class PostgresMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    address_ = PostgresServer::shared()->new_schema();
  }
  std::string address_;
};

TEST_F(PostgresMemory, Lasts_AndIsSharedByItsClients) {
  EXPECT_EQ(postgres_memory(address_, MemoryUse::kExisting).error().kind(), ErrorKind::kNotFound);
  const auto first = postgres_memory(address_).value();
  const auto second = postgres_memory(address_, MemoryUse::kExisting).value();
  ASSERT_TRUE(first.database->write("facts", "a", "first"));
  EXPECT_EQ(second.database->read("facts", "a").value()->value, Json("first"));
  ASSERT_TRUE(second.database->write("facts", "a", "again", {"S/e1"}));
  ASSERT_TRUE(first.database->write("facts", "a", "lost", {"S/e1"}));
  EXPECT_EQ(first.database->read("facts", "a").value()->value, Json("again")) << "an effect is known to all";
}

TEST_F(PostgresMemory, WritersOfSeveralConnections_LoseAndDoubleNothing) {
  constexpr int kWriters = 8, kEach = 25;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        const auto own = postgres_memory(address_);
        ASSERT_TRUE(own) << own.error().message;
        for (int i = 0; i < kEach; ++i)
          EXPECT_TRUE(own->memory->append("log", Json(writer), {std::to_string(i)}));
      });
    }
  }
  const auto all = postgres_memory(address_).value();
  EXPECT_EQ(all.memory->read("log", {1000, ""}).value().size(), std::size_t{kEach}) << "each effect once";
}

TEST_F(PostgresMemory, ServerThatRestarts_LosesNothingAndIsFoundAgain) {
  const auto server = PostgresServer::start_new();
  ASSERT_TRUE(server);
  const auto clients = postgres_memory(server->address()).value();
  ASSERT_TRUE(clients.database->write("facts", "a", "kept"));
  server->stop(SIGQUIT);
  EXPECT_THAT(clients.database->read("facts", "a").error().message, HasSubstr("memory postgres://"));
  EXPECT_FALSE(clients.database->write("facts", "b", "lost"));
  ASSERT_TRUE(server->start());
  EXPECT_EQ(clients.database->read("facts", "a").value()->value, Json("kept"));
  EXPECT_FALSE(clients.database->read("facts", "b").value());
  EXPECT_TRUE(clients.database->write("facts", "b", "there"));
}

TEST_F(PostgresMemory, Password_IsRefusedInTheAddress) {
  const auto refused = postgres_memory("postgres://ann:canary@localhost/db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("canary")));
}

}  // namespace
}  // namespace praxis

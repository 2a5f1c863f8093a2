// What memories in a database server share: several clients, and a server that crashes and starts again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "journal/testing/postgres_server.hpp"
#include "memory/testing/redis_server.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;
using testing::PostgresServer;
using testing::RedisServer;

struct InPostgres {
  using Server = PostgresServer;
  static constexpr const char* kTitle = "Postgres";
  static constexpr int kCrash = SIGQUIT;
  static constexpr const char* kName = "memory postgres://";
  static std::string new_place(Server& server) { return server.new_schema(); }
  static Result<MemoryClients> open(const std::string& address, MemoryUse use = MemoryUse::kCreate) {
    return postgres_memory(address, use);
  }
  static void need() { PRAXIS_NEED_POSTGRES(); }
};

struct InRedis {
  using Server = RedisServer;
  static constexpr const char* kTitle = "Redis";
  static constexpr int kCrash = SIGKILL;
  static constexpr const char* kName = "memory redis+unix:///";
  static std::string new_place(Server& server) { return server.new_database(); }
  static Result<MemoryClients> open(const std::string& address, MemoryUse use = MemoryUse::kCreate) {
    return redis_memory(address, use);
  }
  static void need() { PRAXIS_NEED_REDIS(); }
};

template <typename Place>
class ServerMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    Place::need();
    if (Place::Server::shared() != nullptr) address_ = Place::new_place(*Place::Server::shared());
  }

  std::string address_;
};

struct ServerNames {
  template <typename Place>
  static std::string GetName(int) {
    return Place::kTitle;
  }
};
using ServerPlaces = ::testing::Types<InPostgres, InRedis>;
TYPED_TEST_SUITE(ServerMemory, ServerPlaces, ServerNames);

TYPED_TEST(ServerMemory, Lasts_AndIsSharedByItsClients) {
  EXPECT_EQ(TypeParam::open(this->address_, MemoryUse::kExisting).error().kind(), ErrorKind::kNotFound);
  const auto first = TypeParam::open(this->address_).value();
  const auto second = TypeParam::open(this->address_, MemoryUse::kExisting).value();
  ASSERT_TRUE(first.database->write("facts", "a", "first"));
  EXPECT_EQ(second.database->read("facts", "a").value()->value, Json("first"));
  ASSERT_TRUE(second.database->write("facts", "a", "again", {"S/e1"}));
  ASSERT_TRUE(first.database->write("facts", "a", "lost", {"S/e1"}));
  EXPECT_EQ(first.database->read("facts", "a").value()->value, Json("again")) << "an effect is known to all";
}

TYPED_TEST(ServerMemory, WritersOfSeveralConnections_LoseAndDoubleNothing) {
  constexpr int kWriters = 8, kEach = 25;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] {
        const auto own = TypeParam::open(this->address_);
        ASSERT_TRUE(own) << own.error().message;
        for (int i = 0; i < kEach; ++i)
          EXPECT_TRUE(own->memory->append("log", Json(writer), {std::to_string(i)}));
      });
    }
  }
  const auto all = TypeParam::open(this->address_).value();
  EXPECT_EQ(all.memory->read("log", {1000, ""}).value().size(), std::size_t{kEach}) << "each effect once";
}

TYPED_TEST(ServerMemory, ServerThatRestarts_LosesNothingAndIsFoundAgain) {
  const auto server = TypeParam::Server::start_new();
  ASSERT_TRUE(server);
  const auto clients = TypeParam::open(TypeParam::new_place(*server)).value();
  ASSERT_TRUE(clients.database->write("facts", "a", "kept"));
  server->stop(TypeParam::kCrash);
  EXPECT_THAT(clients.database->read("facts", "a").error().message, HasSubstr(TypeParam::kName));
  EXPECT_FALSE(clients.database->write("facts", "b", "lost"));
  ASSERT_TRUE(server->start());
  EXPECT_EQ(clients.database->read("facts", "a").value()->value, Json("kept"));
  EXPECT_FALSE(clients.database->read("facts", "b").value());
  EXPECT_TRUE(clients.database->write("facts", "b", "there"));
}

}  // namespace
}  // namespace praxis

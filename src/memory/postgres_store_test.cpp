// What is particular to a memory in a PostgreSQL database; stores_test.cpp and
// server_stores_test.cpp have what it shares with others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "journal/testing/postgres_server.hpp"
#include "memory/postgres_vectors.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::HasSubstr;

TEST(PostgresMemory, Password_IsRefusedInTheAddress) {
  const auto refused = postgres_memory("postgres://ann:canary@localhost/db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInput);
  EXPECT_THAT(refused.error().message, ::testing::Not(HasSubstr("canary")));
}

TEST(PostgresMemory, HeldVectors_AreTheNewestThatFit) {
  PRAXIS_NEED_POSTGRES();
  const std::string address = testing::PostgresServer::shared()->new_schema();
  const auto clients = postgres_memory(address).value();
  auto connection = PostgresConnection::open(address, false, "memory").value();
  constexpr std::size_t kFitting = 4;
  PostgresVectors vectors(kFitting * 2 * sizeof(float));
  const MeaningQuery query{"small", {1, 0}};
  const auto held = [&] { return vectors.nearest(connection, query, "", 100).value(); };
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(clients.database->write("facts", std::to_string(i), i));
    const auto notes = vectors.missing(connection, "small", 10).value();
    ASSERT_EQ(notes.size(), 1U);
    ASSERT_TRUE(vectors.add(connection, "small", std::vector<NoteVector>{{notes[0].id, "h", {1, 0}}}));
    const auto matches = held();
    ASSERT_FALSE(matches.empty());
    EXPECT_EQ(matches.front().id, notes[0].id) << "the newest is always there";
    EXPECT_LE(matches.size(), kFitting + 2);
    EXPECT_GE(matches.size(), std::min<std::size_t>(kFitting, static_cast<std::size_t>(i) + 1));
  }
}

}  // namespace
}  // namespace praxis

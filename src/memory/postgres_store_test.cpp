// What is particular to a memory in a PostgreSQL database; stores_test.cpp and
// server_stores_test.cpp have what it shares with others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace praxis

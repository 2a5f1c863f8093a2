// Addresses of Redis: what they name, and that no message shows their passwords.
#include "memory/redis_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace praxis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisAddress, Parts_AreReadAndPasswordsAreNotShown) {
  const auto full = RedisAddress::parse("redis://ann:can%40ry@db.example:7000/3").value();
  EXPECT_EQ(full.host, "db.example");
  EXPECT_EQ(full.port, 7000);
  EXPECT_EQ(full.user, "ann");
  EXPECT_EQ(full.password, "can@ry");
  EXPECT_EQ(full.database, 3);
  EXPECT_EQ(full.shown, "redis://ann@db.example:7000/3");
  EXPECT_EQ(RedisAddress::parse("redis://:canary@[::1]").value().shown, "redis://[::1]:6379/0");
  const auto socket = RedisAddress::parse("redis+unix://ann:canary@/run/a%20b.sock?db=2").value();
  EXPECT_EQ(socket.socket, "/run/a b.sock");
  EXPECT_EQ(socket.password, "canary");
  EXPECT_EQ(socket.database, 2);
  EXPECT_EQ(socket.host, "");
  EXPECT_EQ(socket.shown, "redis+unix://ann@/run/a b.sock?db=2");
}

TEST(RedisAddress, Password_MayBeInAVariable) {
  setenv("REDISCLI_AUTH", "from variable", 1);
  EXPECT_EQ(RedisAddress::parse("redis://ann@host").value().password, "from variable");
  EXPECT_EQ(RedisAddress::parse("redis://:own@host").value().password, "own");
  unsetenv("REDISCLI_AUTH");
  EXPECT_THAT(RedisAddress::parse("redis://ann@host").error().message, HasSubstr("REDISCLI_AUTH"));
}

TEST(RedisAddress, Mistakes_AreNamedWithoutTheAddress) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis://", "no host"},
      {"redis://ann:canary@", "no host"},
      {"redis://host:0/1", "the port"},
      {"redis://host:canary", "the port"},
      {"redis://host:6379/one", "the database"},
      {"redis://ann:ca%4nary@host", "two digits"},
      {"redis://ann:canary%00@host", "two digits"},
      {"redis+unix://canary.sock", "absolute path"},
      {"redis+unix:///canary.sock?password=canary", "db=NUMBER"},
      {"rediss://ann:canary@host", "TLS"},
  };
  for (const auto& [address, why] : cases) {
    const auto read = RedisAddress::parse(address);
    ASSERT_FALSE(read) << address;
    EXPECT_EQ(read.error().code, ErrorCode::kInput);
    EXPECT_THAT(read.error().message, HasSubstr(why));
    EXPECT_THAT(read.error().message, Not(HasSubstr("canary"))) << address;
  }
}

}  // namespace
}  // namespace praxis

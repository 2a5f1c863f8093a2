// Tests of the small value types: errors, times, ids, base64, suggestions.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>

#include "praxis/base/base64.hpp"
#include "praxis/base/environment.hpp"
#include "praxis/base/result.hpp"
#include "praxis/base/suggest.hpp"

namespace praxis {
namespace {

TEST(Error, CodesRoundTripByName) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    EXPECT_EQ(error_code_from(to_string(code)), code);
  }
  EXPECT_EQ(to_string(ErrorCode::kModel), "model");
  EXPECT_EQ(to_string(ErrorCode::kInternal), "internal");
  EXPECT_EQ(error_code_from("new in a later version"), ErrorCode::kInternal);
}

TEST(Time, PrintsIso8601WithMilliseconds) {
  EXPECT_EQ(to_iso8601({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(to_iso8601({1'700'000'000'123}), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(to_iso8601({-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso8601({951'782'400'000}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(to_iso8601({std::numeric_limits<std::int64_t>::max()}), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(to_iso8601({std::numeric_limits<std::int64_t>::min()}), "0000-01-01T00:00:00.000Z");
}

TEST(Environment, IdsAreUlidsInOrderOfCreation) {
  const auto environment = fixed_environment(1);
  std::string previous;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = environment->new_id();
    ASSERT_EQ(id.size(), 26U);
    ASSERT_EQ(id.find_first_not_of("0123456789ABCDEFGHJKMNPQRSTVWXYZ"), std::string::npos);
    ASSERT_LT(previous, id);
    previous = id;
  }
  EXPECT_EQ(fixed_environment(1, {1'469'918'176'385})->new_id().substr(0, 10), "01ARYZ6S41");
}

TEST(Environment, FixedRepeatsItselfAndSystemDoesNot) {
  EXPECT_EQ(fixed_environment(42)->new_id(), fixed_environment(42)->new_id());
  EXPECT_NE(fixed_environment(42)->random(), fixed_environment(43)->random());
  const auto system = system_environment();
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.insert(system->new_id());
  EXPECT_EQ(ids.size(), 100U);
  EXPECT_GT(system->now(), UnixMillis{1'700'000'000'000});
  const auto before = system->monotonic();
  EXPECT_LE(before, system->monotonic());
}

TEST(Environment, ForkedProcessHasItsOwnRandomNumbers) {
  const auto environment = system_environment();
  environment->random();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t bits = environment->random();
    _exit(write(ends[1], &bits, sizeof bits) == sizeof bits ? 0 : 1);
  }
  std::uint64_t theirs = 0;
  EXPECT_EQ(read(ends[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
  EXPECT_NE(theirs, environment->random());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  for (const int end : ends) close(end);
}

TEST(Base64, RoundTripsEveryLength) {
  EXPECT_EQ(base64_encode("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_encode("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_encode("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_encode(""), "");
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const auto back = base64_decode(base64_encode(bytes));
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, DecodingIsStrict) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "Zm-_", "====", "Zg==Zg=="}) {
    const auto bytes = base64_decode(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, ErrorCode::kInput);
  }
}

TEST(Suggest, TypingErrors_GetTheIntendedName) {
  const std::vector<std::string> names{"name", "age", "city_name", "read_file"};
  EXPECT_EQ(closest("nmae", names), "name");
  EXPECT_EQ(closest("Name", names), "name");
  EXPECT_EQ(closest("read-file", names), "read_file");
  EXPECT_EQ(closest("readfile", names), "read_file");
  EXPECT_EQ(closest("city_nam", names), "city_name");
  EXPECT_EQ(closest("colour", names), std::nullopt);
  EXPECT_EQ(closest("", names), std::nullopt);
  EXPECT_EQ(closest("x", {}), std::nullopt);
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace praxis

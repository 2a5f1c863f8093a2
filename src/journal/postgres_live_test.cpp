// What the processes of a journal say to each other over the server.
#include "journal/postgres_live.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "journal/testing/any_journal.hpp"
#include "journal/testing/postgres_server.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using testing::PostgresServer;

class PostgresLiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    PRAXIS_NEED_POSTGRES();
    address_ = PostgresServer::shared()->new_schema();
    ASSERT_TRUE(testing::open_postgres(address_));
  }
  static PostgresLive live(const std::string& address, std::string_view name) {
    auto opened = PostgresLive::open(address, name);
    if (!opened) throw std::runtime_error(opened.error().message);
    return *std::move(opened);
  }
  /// What comes until this text, without it.
  static std::vector<std::string> received(PostgresLive& live, const std::string& last) {
    std::vector<std::string> all;
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < until) {
      const auto texts = live.receive(-1, std::chrono::milliseconds(100));
      if (!texts) break;
      for (const std::string& text : *texts) {
        if (text == last) return all;
        all.push_back(text);
      }
    }
    ADD_FAILURE() << last << " never came";
    return all;
  }

  std::string address_;
};

TEST_F(PostgresLiveTest, MessagesReachOneProcessOrAll) {
  auto one = live(address_, "one"), two = live(address_, "two");
  const std::string longest(PostgresLive::kMostBytes, '\xff');
  ASSERT_TRUE(one.send({{"two", longest}, {"", "to all"}, {"two", "again"}, {"two", "again"}, {"", "end"}}));
  EXPECT_THAT(received(one, "end"), ElementsAre("to all"));
  EXPECT_THAT(received(two, "end"), ElementsAre(longest, "to all", "again", "again"));
}

TEST_F(PostgresLiveTest, AnotherJournalOfTheDatabaseHearsNothing) {
  const std::string elsewhere = PostgresServer::shared()->new_schema();
  ASSERT_TRUE(testing::open_postgres(elsewhere));
  auto one = live(address_, "one"), other = live(elsewhere, "one");
  ASSERT_TRUE(one.send({{"", "here"}, {"one", "here"}}));
  ASSERT_TRUE(other.send({{"", "end"}}));
  EXPECT_THAT(received(other, "end"), ElementsAre());
}

TEST_F(PostgresLiveTest, WhoCannotReadTheTablesNeitherReadsNorForgesAMessage) {
  auto one = live(address_, "one");
  auto stranger = PostgresConnection::open(PostgresServer::shared()->address(), false);
  auto owner = PostgresConnection::open(address_, false);
  ASSERT_TRUE(stranger && owner);
  const auto table = owner->run("SELECT 'praxis_entries'::regclass::oid::bigint");
  ASSERT_TRUE(table);
  const std::string channel = "praxis_live_" + std::to_string(table->integer(0, 0)) + "_all";
  ASSERT_TRUE(stranger->execute("LISTEN \"" + channel + '"'));
  ASSERT_TRUE(stranger->run("SELECT pg_notify($1, $2)", {channel, std::string("forged")}));
  ASSERT_TRUE(one.send({{"", "a secret"}, {"", "end"}}));
  EXPECT_THAT(received(one, "end"), ElementsAre("a secret"));
  std::string heard;
  for (int tries = 0; tries < 100 && heard.size() < 20; ++tries) {
    const auto texts = stranger->await_notifications(-1, std::chrono::milliseconds(100));
    ASSERT_TRUE(texts);
    for (const std::string& text : *texts) heard += text + ' ';
  }
  EXPECT_THAT(heard, ::testing::Not(::testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace praxis

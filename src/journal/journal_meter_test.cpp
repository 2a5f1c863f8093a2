// What a journal counts of itself.
#include "journal/journal_meter.hpp"

#include <gtest/gtest.h>

#include "journal/testing/any_journal.hpp"
#include "journal/testing/journals.hpp"
#include "journal/testing/postgres_server.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;
using testing::kSession;
using testing::make_session;
using testing::PostgresServer;

JournalFigures figures_of(Journal& journal) { return dynamic_cast<MeasuredJournal&>(journal).figures(); }

TEST(PostgresMeter, CountsLeasesTakeOversAndAppends) {
  PRAXIS_NEED_POSTGRES();
  const std::string address = PostgresServer::shared()->new_schema();
  const auto first = testing::open_postgres(address), second = testing::open_postgres(address);
  ASSERT_TRUE(first && second);
  make_session(*first, kSession);
  EXPECT_EQ(figures_of(*first).leases, 1U);
  EXPECT_EQ(figures_of(*first).waiting, 0U);
  EXPECT_GT(figures_of(*first).time, 0ns);
  const auto taken = second->acquire(kSession, true);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(figures_of(*second).takeovers, 1U);
  EXPECT_EQ(figures_of(*second).leases, 1U);
  second->release(*taken);
  EXPECT_EQ(figures_of(*second).leases, 0U);
  ASSERT_TRUE(second->acquire(kSession));
  EXPECT_EQ(figures_of(*second).takeovers, 1U) << "one that was released is no take-over";
}

TEST(JournalMeterTest, AppendsAreClassedByTheirTime) {
  JournalMeter meter;
  for (const auto time : {1'000us, 1'001us, 60'000'000us}) {
    meter.begin_append();
    meter.end_append(time, true);
  }
  meter.begin_append();
  meter.end_append(1us, false);
  const JournalFigures figures = meter.figures();
  EXPECT_EQ(figures.durable.front(), 1U);
  EXPECT_EQ(figures.durable.at(1), 1U);
  EXPECT_EQ(figures.durable.back(), 1U);
  EXPECT_EQ(figures.failed, 1U);
  EXPECT_EQ(figures.waiting, 0U);
}

}  // namespace
}  // namespace praxis

// Tests of the promises of every kind of journal.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "journal/testing/journals.hpp"
#include "journal/testing/postgres_server.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/journal/postgres_journal.hpp"

namespace praxis::testing {

inline std::shared_ptr<Journal> open_postgres(const std::string& address,
                                              PostgresJournalOptions options = {}) {
  auto journal = postgres_journal(address, std::move(options));
  if (!journal) throw std::runtime_error(journal.error().message);
  return *journal;
}

/// A test of the promises of every kind of journal; the parameter names one.
class AnyJournalTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == std::string("postgres")) PRAXIS_NEED_POSTGRES();
  }
  /// A new journal of the kind; one in memory if the machine lacks it.
  std::shared_ptr<Journal> new_journal() const {
    const std::string kind = GetParam();
    if (kind == "sqlite") return open_journal(folder_ / "j");
    if (kind == "memory" || PostgresServer::shared() == nullptr) return memory_journal();
    return open_postgres(PostgresServer::shared()->new_schema());
  }

  const TemporaryFolder folder_;
  std::shared_ptr<Journal> journal_ = new_journal();
};
inline const auto kAllJournals = ::testing::Values("memory", "sqlite", "postgres");
inline std::string journal_name(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace praxis::testing

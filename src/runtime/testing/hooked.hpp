// For tests of hooks: agents on scripted models, and what the log of a session holds.
#pragma once

#include <gmock/gmock.h>

#include "runtime/testing/scripted.hpp"

namespace praxis::testing {

inline constexpr std::string_view kEchoThenText =
    R"({"tool_calls": [{"id": "c1", "name": "echo", "arguments": {"text": "abc"}}]}
{"text": "done"})";

class HooksTest : public Scripted {
 protected:
  /// The bodies of one kind in the session's log.
  template <class Wanted>
  std::vector<Wanted> recorded(const Session& session) {
    const auto records = read_records(*journal_, session.session_id());
    if (!records) throw std::runtime_error(records.error().message);
    std::vector<Wanted> found;
    for (const StoredRecord& stored : *records) {
      if (const auto* body = std::get_if<Wanted>(&stored.record.body)) found.push_back(*body);
    }
    return found;
  }

  void expect_replays(const Session& session) {
    const auto report = replay(*read_records(*journal_, session.session_id()));
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->divergence) << report->divergence->seq << ' ' << report->divergence->field << ": "
                                     << report->divergence->expected << ", now " << report->divergence->found;
  }
};

}  // namespace praxis::testing

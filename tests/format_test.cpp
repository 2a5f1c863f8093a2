// What was written once can be read for ever: a session in each released format of records is read, replayed
// and carried on.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "praxis/praxis.hpp"

namespace praxis::testing {
namespace {

std::string fixture(const std::string& name) {
  std::ifstream in(PRAXIS_SOURCE_DIR "/tests/fixtures/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Format : public ::testing::TestWithParam<const char*> {
 protected:
  Format() : session_(import_session(*journal_, fixture(GetParam()))) {}

  const std::shared_ptr<Journal> journal_ = memory_journal();
  const Result<SessionId> session_;
};

TEST_P(Format, IsReadAndReplayed) {
  ASSERT_TRUE(session_) << session_.error().message;
  const auto records = read_records(*journal_, *session_);
  ASSERT_TRUE(records) << records.error().message;
  const auto report = replay(*records);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->divergence) << report->divergence->seq << " " << report->divergence->field;
  const auto state = fold(*records);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->last->reason, StopReason::kOutputLimit);
  EXPECT_EQ(state->agent->limits.compact_at, 0U) << "nothing was summarised then";
}

TEST_P(Format, IsCarriedOn) {
  ASSERT_TRUE(session_) << session_.error().message;
  RuntimeOptions options;
  options.journal = journal_;
  const auto runtime = Runtime::create(std::move(options));
  std::string script;
  for (int i = 0; i < 12; ++i)
    script += R"({"text": "as before"})"
              "\n";
  const auto model = script_model(script, "now", runtime->model_services().executor);
  ASSERT_TRUE(model);
  const auto state = fold(*read_records(*journal_, *session_));
  AgentSpec spec = *state->agent;
  spec.tools.clear();
  auto session = runtime->open_session(*session_, Agent(spec).model(*model));
  ASSERT_TRUE(session) << session.error().message;
  const auto result = session->ask("And after all that?");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "as before");
  const auto report = replay(*read_records(*journal_, *session_));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->divergence) << report->divergence->seq << " " << report->divergence->field;
}

INSTANTIATE_TEST_SUITE_P(Released, Format, ::testing::Values("session-1.jsonl"));

}  // namespace
}  // namespace praxis::testing

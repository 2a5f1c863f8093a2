// `praxis eval` that is killed again and again. PRAXIS_CRASH_ROUNDS is the number of kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>

#include "command_line.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/praxis.hpp"
#include "yes_model.hpp"

namespace praxis::testing {
namespace {

using ::testing::SizeIs;

constexpr int kCases = PRAXIS_SANITIZED ? 60 : 500;
constexpr int kJobs = 3;

int wanted_kills() {
  const char* text = std::getenv("PRAXIS_CRASH_ROUNDS");
  const int wanted = text == nullptr ? 20 : std::max(1, std::atoi(text));
  return std::min(wanted, kCases / 5);  // so that cases are left for the last kill
}

/// A model that counts its answers to each case, as a provider does that is paid for them. It gives as many
/// as it may; further requests wait.
class PaidModel {
 public:
  PaidModel() : server_([this](const TestRequest& request, TestConnection& to) { answer(request, to); }) {}
  ~PaidModel() {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  PaidModel(const PaidModel&) = delete;
  PaidModel& operator=(const PaidModel&) = delete;
  std::string url() const { return server_.url("/v1"); }

  /// Allows so many answers from now on. Requests that wait are those of a process that was killed: they get
  /// no answer.
  void allow(int answers) {
    const std::scoped_lock lock(mutex_);
    allowed_ = answers;
    ++round_;
    changed_.notify_all();
  }
  /// Waits until all answers are given; whether they are.
  bool has_given_all() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [this] { return allowed_ == 0; });
  }
  std::map<int, int> answered() const {
    const std::scoped_lock lock(mutex_);
    return answered_;
  }

 private:
  void answer(const TestRequest& request, TestConnection& to) {
    const int test = case_of(request);
    std::unique_lock lock(mutex_);
    const int round = round_;
    changed_.wait(lock, [&] { return closing_ || allowed_ > 0 || round_ != round; });
    if (closing_ || round_ != round) return;
    ++answered_[test];
    to.write(yes_reply());
    if (--allowed_ == 0) changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int allowed_ = 0;
  int round_ = 0;         ///< of `allow`
  bool closing_ = false;  ///< no request gets an answer any more
  std::map<int, int> answered_;
  TestServer server_;
};

class CliEvalKills : public CommandLine {
 protected:
  CliEvalKills() {
    options_.env["LLAMACPP_BASE_URL"] = model_.url();
    std::string cases;
    for (int i = 1; i <= kCases; ++i) {
      const std::string number = std::to_string(i);
      cases +=
          R"({"id": "c)" + number + R"(", "prompt": "case )" + number + R"(?", "expected": "yes"})" + "\n";
    }
    file("cases.jsonl", cases);
    file("suite.toml", "cases_from = [\"cases.jsonl\"]\n[[variants]]\nmodel = \"llamacpp:demo-1\"\n");
  }
  /// Starts the evaluation and kills it once the model has given so many answers.
  void kill_after(int given_answers) {
    model_.allow(given_answers);
    Process eval(command({"eval", "suite.toml", "-j", std::to_string(kJobs)}), options_);
    const bool given = model_.has_given_all();
    eval.signal(SIGKILL);
    eval.finish();
    ASSERT_TRUE(given) << eval.errors;
  }
  /// The number of model answers in the log of each run.
  std::map<std::string, int> answers() const {
    std::map<std::string, int> found;
    const auto journal =
        sqlite_journal((folder_ / "state" / "praxis" / "journal.db").string(), {.read_only = true});
    if (!journal) throw std::runtime_error(journal.error().message);
    const auto rows = (*journal)->sessions().value();
    for (const SessionRow& row : rows) {
      int& count = found[row.id.str()];
      const auto records = read_records(**journal, row.id).value();
      for (const StoredRecord& stored : records) {
        const auto* settled = std::get_if<records::EffectSettled>(&stored.record.body);
        if (settled != nullptr && std::holds_alternative<ModelResponse>(settled->result)) ++count;
      }
    }
    return found;
  }

  PaidModel model_;
};

TEST_F(CliEvalKills, EachCaseCountsOnce_AndNoRecordedAnswerIsPaidForAgain) {
  const int kills = wanted_kills();
  for (int i = 1; i <= kills; ++i) {
    kill_after(std::max(1, kCases / (kills + 1)));
    if (HasFatalFailure()) return;
  }
  model_.allow(2 * kCases);
  const CommandResult result = praxis({"eval", "suite.toml", "--json"});
  EXPECT_EQ(result.status, 0) << result.err;
  std::set<std::string> counted, runs;
  for (const Json& item : result.items()) {
    counted.insert(json_string(item, "case"));
    runs.insert(json_string(item, "run_id"));
  }
  EXPECT_THAT(result.items(), SizeIs(kCases));
  EXPECT_THAT(counted, SizeIs(kCases));
  EXPECT_THAT(runs, SizeIs(kCases));
  const Json variant = result.last_line().at("variants").at(0);
  EXPECT_EQ(json_int(variant, "runs"), kCases);
  EXPECT_EQ(json_int(variant, "passed"), kCases);

  const auto recorded = answers();
  EXPECT_THAT(recorded, SizeIs(kCases)) << "a case is one run, also after a kill";
  for (const auto& [run, count] : recorded) EXPECT_EQ(count, 1) << "run " << run;
  const auto answered = model_.answered();
  EXPECT_THAT(answered, SizeIs(kCases));
  int again = 0;
  for (const auto& [test, times] : answered) again += times - 1;
  RecordProperty("kills", kills);
  RecordProperty("answered_again", again);
  EXPECT_LE(again, kills * kJobs) << "only what was under way at a kill is asked again";
}

}  // namespace
}  // namespace praxis::testing

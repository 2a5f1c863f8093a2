// For tests: agents on scripted models, tools that the test opens and closes, and a journal that fails or is
// slow on demand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "journal/testing/forwarding_journal.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/core/state.hpp"
#include "praxis/json/describe.hpp"
#include "praxis/logs/logs.hpp"
#include "praxis/models/model.hpp"
#include "praxis/runtime/agent.hpp"
#include "praxis/runtime/agent_creator.hpp"
#include "praxis/runtime/agent_tree.hpp"
#include "praxis/runtime/commands.hpp"
#include "praxis/runtime/runtime.hpp"
#include "praxis/tools/media.hpp"
#include "praxis/tools/tool.hpp"
#include "praxis/tools/typed_tool.hpp"

namespace praxis::testing {

using namespace std::chrono_literals;

/// A door that stays open once it has been opened.
class Gate {
 public:
  void open() {
    if (!opened_.exchange(true)) door_.set_value();
  }
  void wait() const { passed_.wait(); }
  /// For an opening that may never come: returns false when it did not come within 10 s.
  bool wait_briefly() const { return passed_.wait_for(10s) == std::future_status::ready; }
  bool is_open() const { return opened_; }

 private:
  std::atomic<bool> opened_ = false;
  std::promise<void> door_;
  std::shared_future<void> passed_{door_.get_future()};
};

/// A tool whose handler the test writes; it needs no rule to run.
inline Tool host_tool(std::string name,
                      std::function<Result<ToolOutput>(ToolContext&, const Json&)> handler) {
  Tool tool;
  tool.definition.name = std::move(name);
  tool.definition.description = "Made by the test";
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.definition.safe_by_default = true;
  tool.handler = std::move(handler);
  return tool;
}

inline ToolOutput says(std::string text) { return {std::move(text), nullptr, {}, {}}; }

/// Returns its argument `text`.
inline Tool echo_tool(std::string name = "echo") {
  Tool tool = host_tool(std::move(name), [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    return says(json_string(arguments, "text"));
  });
  tool.definition.parameters =
      JsonObject{{"type", "object"},
                 {"properties", JsonObject{{"text", JsonObject{{"type", "string"}}}}},
                 {"required", JsonArray{"text"}}};
  return tool;
}

/// A tool that signals when it runs, then waits for the test. `honest` ones also return when they are asked
/// to stop.
struct BlockedTool {
  std::shared_ptr<Gate> entered = std::make_shared<Gate>();
  std::shared_ptr<Gate> release = std::make_shared<Gate>();
  std::shared_ptr<Gate> left = std::make_shared<Gate>();

  ~BlockedTool() { release->open(); }
  Tool tool(std::string name, bool honest) const {
    return host_tool(std::move(name),
                     [in = entered, out = release, done = left, honest](ToolContext& context,
                                                                        const Json&) -> Result<ToolOutput> {
                       const std::stop_callback stopped(honest ? context.stop : std::stop_token{},
                                                        [&] { out->open(); });
                       in->open();
                       out->wait();
                       done->open();
                       if (context.stop.stop_requested())
                         return fail(ErrorCode::kCancelled, "stopped on request");
                       return says("late");
                     });
  }
};

/// The name of every event of a run, to its end, without the changes that the agent tree shows.
inline std::vector<std::string> names(Run run) {
  std::vector<std::string> names;
  for (const Event& event : run) {
    if (!std::holds_alternative<events::AgentStatus>(event.body)) names.emplace_back(event_name(event.body));
  }
  return names;
}

/// Returns the result that the model got for a call; fails the test when it got no result.
inline ToolResultPart result_for(const History& history, std::string_view call) {
  for (const MessagePtr& message : history.messages()) {
    for (const Part& part : message->parts) {
      const auto* result = std::get_if<ToolResultPart>(&part);
      if (result != nullptr && result->id.str() == call) return *result;
    }
  }
  ADD_FAILURE() << "no result for " << call;
  return {};
}

/// Calls without a result, anywhere in the history.
inline std::size_t unanswered(const History& history) {
  std::size_t open = 0;
  for (const MessagePtr& message : history.messages()) {
    for (const Part& part : message->parts) {
      if (std::holds_alternative<ToolCallPart>(part)) ++open;
      if (std::holds_alternative<ToolResultPart>(part)) --open;
    }
  }
  return open;
}

/// Forwards everything, except the appends that the test wants to fail or to be slow.
class UnreliableJournal final : public ForwardingJournal {
 public:
  using ForwardingJournal::ForwardingJournal;

  /// The `nth` append from now on fails as if the disk were full; 1 is the next.
  void fail_append(int nth) { until_failure_ = nth; }
  /// The next append with a record of this kind fails so.
  void fail_append_of(std::string kind) {
    const std::lock_guard lock(mutex_);
    failing_kind_ = std::move(kind);
  }
  /// The `nth` append from now on is written at once but acknowledged only when the gate opens.
  std::shared_ptr<Gate> hold_append(int nth) {
    gate_ = std::make_shared<Gate>();
    until_slow_ = nth;
    return gate_;
  }

  /// How often a log was read.
  int reads() const { return reads_; }

  void append(Append append, AppendDone done) override {
    if (until_slow_.fetch_sub(1) == 1) {
      done = [gate = gate_, done = std::move(done)](Result<std::uint64_t> seq) mutable {
        std::thread([gate, done = std::move(done), seq = std::move(seq)]() mutable {
          gate->wait();
          done(std::move(seq));
        }).detach();
      };
    }
    std::unique_lock lock(mutex_);
    const bool fails =
        !failing_kind_.empty() && std::ranges::any_of(append.entries, [&](const NewEntry& entry) {
          return entry.kind == failing_kind_;
        });
    if (fails) failing_kind_.clear();
    lock.unlock();
    if (until_failure_.fetch_sub(1) != 1 && !fails) return inner().append(std::move(append), std::move(done));
    done(fail(ErrorCode::kJournal, ErrorKind::kFull, "the disk is full", true));
  }
  Result<std::vector<Entry>> read(const SessionId& session, std::uint64_t from, std::size_t limit) override {
    ++reads_;
    return inner().read(session, from, limit);
  }

 private:
  std::atomic<int> until_failure_ = 0, until_slow_ = 0, reads_ = 0;
  std::shared_ptr<Gate> gate_;
  std::mutex mutex_;
  std::string failing_kind_;
};

/// Rules that let every call of one of `tools` wait for an approval.
inline PolicyRules asking(std::vector<std::string> tools) {
  PolicyRules rules;
  rules.ask = std::move(tools);
  return rules;
}

/// The default limits, except for one.
template <class T>
Limits limit(T Limits::* which, T value) {
  Limits limits;
  limits.*which = value;
  return limits;
}

/// A runtime on an in-memory journal, and agents whose model follows a script (docs/script-model.md).
class Scripted : public ::testing::Test {
 protected:
  Scripted() { use_runtime({}); }

  /// Checks that the log of every session replays offline to the same records.
  void TearDown() override {
    const auto sessions = journal_->sessions(0);
    ASSERT_TRUE(sessions) << sessions.error().message;
    for (const SessionRow& row : *sessions) {
      const auto records = read_records(*journal_, row.id);
      if (!records) continue;  // created, but without records
      const auto report = replay(*records, nullptr, planner_);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_FALSE(report->divergence)
          << "record " << report->divergence->seq << ", " << report->divergence->field << ": "
          << report->divergence->expected << ", now " << report->divergence->found;
    }
  }

  /// With PRAXIS_SUSPEND set, every test runs with the state dropped from memory at each effect.
  void use_runtime(RuntimeOptions options) {
    options.suspend_when_waiting = std::getenv("PRAXIS_SUSPEND") != nullptr;
    options.journal = journal_;
    runtime_ = Runtime::create(std::move(options));
  }

  /// A runtime that waits long for what it stops: what does stop is not taken for lost on a busy machine.
  void use_patient_runtime() {
    RuntimeOptions options;
    options.cancel_grace = std::chrono::seconds(30);
    use_runtime(std::move(options));
  }

  /// Simulates the death of the process. Its sessions have no owner when this returns.
  void start_new_process() {
    runtime_.reset();
    const auto rows = *journal_->sessions(0);
    for (const SessionRow& row : rows) {
      auto lease = journal_->acquire(row.id, false);
      while (!lease) {
        std::this_thread::yield();
        lease = journal_->acquire(row.id, false);
      }
      journal_->release(*lease);
    }
    use_runtime({});
  }

  Agent scripted(std::string_view script) {
    auto model = script_model(script, "test", runtime_->model_services().executor);
    if (!model) throw std::invalid_argument(model.error().message);
    Agent agent("script:test", "You are terse.");
    return agent.model(*model).runtime(runtime_);
  }
  /// An agent that delegates its work to `below`.
  Agent above(const Agent& below, std::string id) {
    Agent agent = scripted(R"({"tool_calls": [{"id": "w", "name": "work", "arguments": {"prompt": "go"}}]}
{"text": "done"})");
    return agent.id(std::move(id)).use(below.as_tool("work", "Does the work"));
  }
  static AgentResult checked(Result<AgentResult> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }
  static Session session_of(const Agent& agent) {
    auto session = agent.session();
    if (!session) throw std::runtime_error(session.error().message);
    return *session;
  }

  /// The entries of all sessions.
  std::string journal_bytes() const {
    std::string bytes;
    const auto rows = journal_->sessions(0);
    for (const SessionRow& row : rows.value()) {
      const auto entries = journal_->read(row.id, 1, 1000);
      for (const Entry& entry : entries.value()) bytes += entry.body;
    }
    return bytes;
  }

  std::shared_ptr<UnreliableJournal> journal_ = std::make_shared<UnreliableJournal>(memory_journal());
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<const Planner> planner_;  ///< of the test's agents, for the replay
};

}  // namespace praxis::testing

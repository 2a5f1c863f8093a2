// How a run is observed, stored and kept in memory must not change its outcome: every scenario is played in
// every setting and compared, record by record and event by event.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <set>

#include "journal/testing/journals.hpp"
#include "scenarios.hpp"

namespace praxis::testing {
namespace {

constexpr auto kTimes = std::to_array<std::string_view>(
    {"time", "created_at", "started_at", "finished_at", "duration_ms", "active_ms", "duration",
     "tool_latency_ms", "latency_by_tool_ms", "elapsed_ms", "updated", "ended_turns_ms", "turn_began"});

/// Returns a copy without times.
Json timeless(const Json& json) {
  if (const auto* array = json.if_array()) {
    JsonArray out;
    for (const Json& item : *array) out.push_back(timeless(item));
    return out;
  }
  if (const auto* object = json.if_object()) {
    JsonObject out;
    for (const auto& [key, value] : *object) {
      if (std::ranges::find(kTimes, std::string_view(key)) == kTimes.end()) out[key] = timeless(value);
    }
    return out;
  }
  return json;
}

/// Assembles streamed pieces as a reader does: the result must equal the parts that follow them.
class Assembler {
 public:
  void operator()(const Event& event) {
    std::visit(
        match{
            [this](const events::TextDelta& delta) { text_ += delta.text; },
            [this](const events::ReasoningDelta& delta) { reasoning_ += delta.text; },
            [this](const events::ToolCallDelta& delta) {
              if (!delta.name.empty()) calls_.push_back({delta.name, {}});
              calls_.back().second += delta.arguments;
            },
            [this](const events::AttemptSuperseded&) { *this = {}; },
            [this](const events::AssistantText& part) { EXPECT_EQ(std::exchange(text_, {}), part.text); },
            [this](const events::AssistantReasoning& part) {
              EXPECT_EQ(std::exchange(reasoning_, {}), part.text);
            },
            [this](const events::ToolCalled& call) {
              if (calls_.empty()) return;  // a call of a plan
              EXPECT_EQ(calls_.front(), std::pair(call.name, call.arguments));
              calls_.erase(calls_.begin());
            },
            [](const auto&) {},
        },
        event.body);
  }

 private:
  std::string text_, reasoning_;
  std::vector<std::pair<std::string, std::string>> calls_;
};

/// The outcome of a run, as text that can be compared.
struct Account {
  std::vector<std::string> records, parts, results;
  std::map<std::string, int> executions;
};

Account account_of(const Scenario& scenario, Setting setting) {
  const bool streams = setting.stream;
  Account account;
  Stage stage(scenario, std::move(setting));
  const auto results = stage.play();
  EXPECT_EQ(results.back().reason, scenario.ends);
  for (const AgentResult& result : results)
    account.results.push_back(to_json_text(timeless(to_json(result))));
  const auto entries = stage.journal().read(stage.session());
  EXPECT_TRUE(entries) << entries.error().message;
  for (const Entry& entry : *entries)
    account.records.push_back(entry.kind + ' ' + to_json_text(timeless(*parse_json(entry.body))));
  Assembler assemble;
  for (const Event& event : stage.world().events()) {
    if (streams) assemble(event);
    if (!is_delta(event.body)) account.parts.push_back(to_json_text(timeless(to_json(event))));
    EXPECT_TRUE(streams || !is_delta(event.body)) << "a delta without streaming";
  }
  account.executions = stage.world().executions();
  return account;
}

void expect_same(const Account& found, const Account& expected) {
  EXPECT_EQ(found.records, expected.records);
  EXPECT_EQ(found.parts, expected.parts);
  EXPECT_EQ(found.results, expected.results);
  EXPECT_EQ(found.executions, expected.executions);
}

class Parity : public ::testing::TestWithParam<Scenario> {};

TEST_P(Parity, EverySetting_GivesTheSameRecordsPartsAndResults) {
  const Account expected = account_of(GetParam(), {});
  ASSERT_FALSE(expected.records.empty());
  ASSERT_FALSE(expected.parts.empty());
  const MemoryFolder folder;
  int files = 0;
  for (const bool on_disk : {false, true}) {
    for (const bool suspend : {false, true}) {
      for (const std::size_t chunk : {0U, 1U, 3U, 1'000'000U}) {
        Setting setting{.stream = chunk != 0, .chunk = std::max<std::size_t>(chunk, 1), .suspend = suspend};
        if (on_disk) setting.journal = open_journal(folder / ("journal" + std::to_string(++files)));
        SCOPED_TRACE("stream in chunks of " + std::to_string(chunk) +
                     (on_disk ? ", on disk" : ", in memory") + (suspend ? ", suspended when waiting" : ""));
        expect_same(account_of(GetParam(), std::move(setting)), expected);
      }
    }
  }
}

TEST(PropertyParity, Scenarios_HoldEveryKindOfRecord) {
  std::set<std::string> kinds;
  for (const Scenario& scenario : scenarios()) {
    Stage stage(scenario, {});
    stage.play();
    const auto entries = stage.journal().read(stage.session());
    for (const Entry& entry : *entries) kinds.insert(entry.kind);
  }
  kinds.insert("status_changed");  // written only after a crash or a fork
  kinds.insert("speaker_set");     // written only by a team
  EXPECT_EQ(kinds.size(), std::variant_size_v<RecordBody>);
}

/// A model that counts the sessions destroyed while they were answering.
class FragileModel final : public Model {
 public:
  explicit FragileModel(std::shared_ptr<Model> inner) : inner_(std::move(inner)) {}

  const std::string& name() const override { return inner_->name(); }
  ModelCapabilities capabilities() const override { return inner_->capabilities(); }
  MicroUsd price(const Usage& usage) const override { return inner_->price(usage); }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(inner_->open_session(), broken);
  }

  const std::shared_ptr<std::atomic<int>> broken = std::make_shared<std::atomic<int>>(0);

 private:
  struct Sink final : ModelSink {
    explicit Sink(std::shared_ptr<ModelSink> to) : inner(std::move(to)) {}
    void on_delta(const ModelDelta& delta) override { inner->on_delta(delta); }
    void on_done(Result<ModelResponse> response) override {
      answering = false;
      inner->on_done(std::move(response));
    }
    const std::shared_ptr<ModelSink> inner;
    std::atomic<bool> answering = true;
  };
  struct Session final : ModelSession {
    Session(std::unique_ptr<ModelSession> session, std::shared_ptr<std::atomic<int>> count)
        : inner(std::move(session)), broken(std::move(count)) {}
    ~Session() override { *broken += call && call->answering ? 1 : 0; }
    void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
      call = std::make_shared<Sink>(std::move(sink));
      inner->start(request, call, std::move(stop));
    }
    const std::unique_ptr<ModelSession> inner;
    const std::shared_ptr<std::atomic<int>> broken;
    std::shared_ptr<Sink> call;
  };

  const std::shared_ptr<Model> inner_;
};

TEST_P(Parity, ModelSession_OutlivesItsCallsEvenWhenSuspended) {
  std::shared_ptr<FragileModel> fragile;
  const auto wrap = [&](std::shared_ptr<Model> model) {
    return fragile = std::make_shared<FragileModel>(std::move(model));
  };
  Stage stage(GetParam(), {.suspend = true, .wrap = wrap});
  stage.play();
  if (!fragile) GTEST_SKIP() << "asks no model";
  EXPECT_EQ(*fragile->broken, 0);
}

INSTANTIATE_TEST_SUITE_P(Property, Parity, ::testing::ValuesIn(scenarios()),
                         [](const auto& scenario) { return scenario.param.name; });

}  // namespace
}  // namespace praxis::testing

#include "recorded_run.hpp"

#include <array>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "faults/fault.hpp"
#include "praxis/net/http_client.hpp"
#include "praxis/tools/ask_user_tool.hpp"
#include "scenarios.hpp"
#include "wires.hpp"

namespace praxis::testing {
namespace {

using faults::Random;

/// A clock that never advances, so that the number of times the clock is read makes no difference.
class TimelessEnvironment final : public Environment {
 public:
  explicit TimelessEnvironment(std::uint64_t seed) : random_(seed) {}
  UnixMillis now() override { return {1'700'000'000'000}; }
  std::chrono::nanoseconds monotonic() override { return std::chrono::nanoseconds{0}; }
  std::uint64_t random() override {
    const std::lock_guard lock(mutex_);
    return random_();
  }

 private:
  std::mutex mutex_;
  Random random_;
};

template <std::size_t N>
std::string one_of(Random& random, const std::array<const char*, N>& choices) {
  return choices[random.below(N)];
}

std::string words(Random& random) {
  constexpr std::array kWords{"Grüß Gott",  "so",      "be it", "\\u0000?", "漢字",
                              "\"quoted\"", "a\nline", "",      "🙂",       "1e400"};
  std::string text;
  for (std::uint64_t i = random.below(5); i > 0; --i) text += one_of(random, kWords) + ' ';
  return text;
}

Json arguments_for(Random& random, const std::string& tool) {
  const auto number = [&] { return static_cast<std::int64_t>(random.below(2000)) - 1000; };
  if (tool == "add") return JsonObject{{"a", number()}, {"b", number()}};
  if (tool == "big") return JsonObject{{"bytes", static_cast<std::int64_t>(random.below(40'000))}};
  if (tool == "note" || tool == "pay" || tool == "steer" || tool == "enqueue")
    return JsonObject{{"text", words(random) + "!"}, {"amount", static_cast<double>(number()) / 7}};
  if (tool == "kv") return JsonObject{{"op", "put"}, {"key", "k"}, {"value", words(random)}};
  if (tool == "ask_user") return JsonObject{{"question", "Why " + words(random) + "?"}};
  return JsonObject{};
}

Json call_of(Random& random) {
  // Tools that control the session are rare, because little follows them.
  constexpr std::array kTools{"add", "add", "add", "note", "note", "note",     "broken", "flaky",
                              "big", "kv",  "kv",  "pay",  "pay",  "ask_user", "steer",  "no_such_tool"};
  const std::string tool = random.once_in(60)   ? "interrupt"
                           : random.once_in(40) ? "enqueue"
                                                : one_of(random, kTools);
  JsonObject call{{"name", tool}, {"arguments", arguments_for(random, tool)}};
  if (random.once_in(20)) call["arguments"] = R"({"a": 1, )";  // cut off
  return call;
}

/// One answer of the model, or a failed attempt.
Json answer_of(Random& random) {
  if (random.once_in(10)) {
    constexpr std::array kStatuses{429, 500, 503, 503, 401};
    return JsonObject{{"error", JsonObject{{"status", kStatuses[random.below(kStatuses.size())]},
                                           {"message", words(random)},
                                           {"retry_after_ms", 1}}}};
  }
  JsonObject line{{"text", words(random)}, {"chunk", 1 + static_cast<std::int64_t>(random.below(30))}};
  if (random.once_in(3)) line["reasoning"] = words(random) + "hm";
  if (random.once_in(20)) line["finish"] = random.once_in(2) ? "length" : "pause";
  if (!random.once_in(3)) {
    JsonArray calls;
    for (std::uint64_t i = 1 + random.below(3); i > 0; --i) calls.push_back(call_of(random));
    line["tool_calls"] = std::move(calls);
  }
  if (random.once_in(4))
    line["usage"] = JsonObject{{"input", static_cast<std::int64_t>(random.below(5000))}, {"output", 7}};
  return line;
}

Json step_of(Random& random, std::size_t number) {
  JsonObject step{{"id", "s" + std::to_string(number)}};
  switch (random.below(6)) {
    case 0:
      step["message"] = words(random) + "${prompt}";
      return step;
    case 1:
      step["ask"] = "Well, " + words(random) + "?";
      return step;
    case 2:
      step["sleep_ms"] = static_cast<std::int64_t>(random.below(3));
      return step;
    default:
      break;
  }
  constexpr std::array kTools{"add", "note", "broken", "flaky", "big", "kv", "pay"};
  const std::string tool = one_of(random, kTools);
  step["tool"] = tool;
  step["input"] = arguments_for(random, tool);
  if (random.once_in(2)) step["on_error"] = "continue";
  if (number > 1 && random.once_in(3)) step["when"] = "${steps.s" + std::to_string(number - 1) + ".ok}";
  return step;
}

Approval approval_on(const ParkedStep& step, std::uint64_t seed) {
  Random random(seed + std::stoul(step.id.str().substr(1)));
  if (random.once_in(4)) return reject(words(random));
  if (step.kind == ParkKind::kQuestion) return answer(words(random) + "so");
  if (random.once_in(3)) return edit(to_json_text(JsonObject{{"text", words(random)}}));
  return approve();
}

std::vector<Tool> more_tools() {
  Tool pay;
  pay.definition = {"pay", "Pays", JsonObject{{"type", "object"}}, std::chrono::hours(1), false, true};
  pay.handler = [](ToolContext&, const Json& arguments) -> Result<ToolOutput> {
    return ToolOutput{"paid " + json_string(arguments, "text"), arguments, {}, {}};
  };
  return {pay, ask_user_tool()};
}

Scenario scenario_for(std::uint64_t seed, Random& random) {
  Scenario scenario{.name = "seed " + std::to_string(seed)};
  if (random.once_in(4)) {
    JsonArray plan;
    for (std::uint64_t i = 1 + random.below(6); i > 0; --i) plan.push_back(step_of(random, plan.size() + 1));
    plan.push_back(JsonObject{{"finish", "after ${prompt}"}});
    scenario.plan = to_json_text(plan);
  } else {
    for (std::uint64_t i = 2 + random.below(9); i > 0; --i)
      scenario.script += to_json_text(answer_of(random)) + '\n';
  }
  scenario.prompts.clear();
  for (std::uint64_t i = 1 + random.below(3); i > 0; --i) scenario.prompts.push_back("go " + words(random));
  scenario.decide = [seed](const ParkedStep& step) { return approval_on(step, seed); };
  Limits limits;
  if (random.once_in(5)) limits.max_steps = 3;
  if (random.once_in(5)) limits.max_messages = 6;
  if (random.once_in(5)) limits.max_context = 2'000;
  scenario.shape = [limits](Agent& agent) {
    agent.limits(limits).use(more_tools()).policy({.allow = {}, .deny = {}, .ask = {"pay"}});
  };
  return scenario;
}

/// Destroys an executor on this thread and not on its own, where a late task may have held it.
class LastOwner {
 public:
  explicit LastOwner(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}
  ~LastOwner() {
    while (executor_.use_count() != 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  LastOwner(const LastOwner&) = delete;
  LastOwner& operator=(const LastOwner&) = delete;

 private:
  const std::shared_ptr<Executor> executor_;
};

}  // namespace

RecordedRun recorded_run(std::uint64_t seed) {
  static const std::shared_ptr<HttpClient> kHttp = make_http_client();
  Random random(seed);
  const Scenario scenario = scenario_for(seed, random);
  auto own = make_orderly_executor();
  const LastOwner executor(own);
  std::shared_ptr<TappedModel> tap;
  Setting setting;
  setting.environment = std::make_shared<TimelessEnvironment>(seed);
  setting.call = [&thread = *own](Task task) {
    std::promise<void> done;
    thread.post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  };
  setting.executor = std::move(own);
  setting.http = kHttp;
  const bool stream = !random.once_in(4);
  setting.stream = stream;
  setting.suspend = random.once_in(4);
  setting.chunk = 1 + random.below(30);
  setting.wrap = [&tap](std::shared_ptr<Model> model) {
    return tap = std::make_shared<TappedModel>(std::move(model));
  };
  RecordedRun run;
  Stage stage(scenario, std::move(setting));
  stage.play();
  run.records = read_records(stage.journal(), stage.session()).value();
  run.exported = export_session(stage.journal(), stage.session()).value();
  run.again = requests_of(run.records, *stage.agent().description(), stream);
  if (tap) run.sent = tap->sent;
  run.agent = stage.agent().spec();
  return run;
}

std::string fingerprint(const RecordedRun& run) {
  std::string requests;
  for (const std::string& request : run.again) requests += request;
  return digest_of(run.exported).hex() + ' ' + digest_of(requests).hex();
}

std::string golden_line(std::uint64_t seed) {
  return std::to_string(seed) + ' ' + fingerprint(recorded_run(seed)) + '\n';
}

}  // namespace praxis::testing

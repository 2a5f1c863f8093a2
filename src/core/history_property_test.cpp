// Random conversations and sessions, checked against an independent implementation of the rules. Every
// failure prints its seed; `check_history(seed)` and `check_session(seed, reached)` repeat it.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/testing/fold.hpp"
#include "core/testing/planners.hpp"

namespace praxis {
namespace {

constexpr std::uint64_t kConversations = PRAXIS_SANITIZED ? 2'000 : 20'000;
constexpr std::uint64_t kSessions = PRAXIS_SANITIZED ? 100 : 1'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// From 0 to `count` - 1.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// ---- the rules, from the doc comment of `History`

template <class P>
std::vector<const P*> parts_of(const Message& message) {
  std::vector<const P*> found;
  for (const Part& part : message.parts) {
    if (const P* wanted = std::get_if<P>(&part)) found.push_back(wanted);
  }
  return found;
}

/// Returns the violation of the rules in `history`; empty if there are no violations.
std::string violation(const History& history, const std::vector<ToolCallPart>& open) {
  bool words_began = false;
  const Message* previous = nullptr;
  std::int64_t tokens = 0;
  for (const MessagePtr& pointer : history.messages()) {
    const Message& message = *pointer;
    tokens += estimate_tokens(message);
    const bool instruction = message.role == Role::kSystem || message.role == Role::kDeveloper;
    if (instruction && words_began) return "a system message after the start";
    words_began = words_began || !instruction;

    bool empty = true;
    for (const Part& part : message.parts) {
      const auto* text = std::get_if<TextPart>(&part);
      empty = empty && text != nullptr && text->text.empty();
    }
    if (empty) return "an empty message";

    const auto results = parts_of<ToolResultPart>(message);
    if (!results.empty() != (message.role == Role::kTool))
      return "results outside a tool message, or none in one";
    const auto asked =
        previous != nullptr ? parts_of<ToolCallPart>(*previous) : std::vector<const ToolCallPart*>{};
    if (results.size() != asked.size()) return "the calls of a message are not answered by the next one";
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i]->id != asked[i]->id) return "results are not in call order";
    }
    std::set<CallId> ids;
    for (const ToolCallPart* call : parts_of<ToolCallPart>(message)) {
      if (message.role != Role::kAssistant) return "a call outside an assistant message";
      if (!call->valid || call->id.empty() || call->name.empty()) return "a call that cannot be run";
      if (!ids.insert(call->id).second) return "two calls with one id";
    }
    previous = &message;
  }
  const auto waiting =
      previous != nullptr ? parts_of<ToolCallPart>(*previous) : std::vector<const ToolCallPart*>{};
  if (waiting.size() != open.size()) return "the open calls are not those of the last message";
  if (tokens != history.estimated_tokens()) return "the token count is off";
  return {};
}

/// Returns the digest of the same messages pushed one by one, which must be equal.
Digest digest_from_scratch(const History& history) {
  HistoryBuilder builder;
  for (const MessagePtr& message : history.messages()) builder.push(message);
  return builder.history().digest();
}

// ---- random conversations

Part random_part(Random& random) {
  const CallId id{random.pick<const char*>({"a", "b", "c", "d", ""})};
  switch (random.below(8)) {
    case 0:
    case 1:
      return ToolCallPart{id, random.one_in(8) ? "" : "read", "{}", !random.one_in(6), nullptr};
    case 2:
    case 3:
      return ToolResultPart{id, "read", ToolStatus::kOk, random.one_in(4) ? "" : "result", {}};
    case 4:
      return ReasoningPart{"because", "", nullptr};
    default:
      return TextPart{random.one_in(4) ? "" : "some words", nullptr};
  }
}

MessagePtr random_message(Random& random, std::size_t number) {
  auto message = std::make_shared<Message>();
  message->id = MessageId{"m" + std::to_string(number)};
  message->role = random.pick({Role::kSystem, Role::kDeveloper, Role::kUser, Role::kUser, Role::kAssistant,
                               Role::kAssistant, Role::kAssistant, Role::kTool, Role::kTool, Role::kTool});
  for (std::size_t parts = random.below(5); parts-- > 0;) message->parts.push_back(random_part(random));
  return message;
}

/// Applies a random operation to the conversation; returns its description for failure messages.
std::string disturb(HistoryBuilder& builder, Random& random, std::size_t number) {
  const std::size_t size = builder.history().messages().size();
  switch (random.below(20)) {
    case 0: {
      const Digest before = builder.history().digest();
      const bool was_open = !builder.open_calls().empty();
      builder.close_open_calls("cancelled");
      EXPECT_TRUE(builder.open_calls().empty());
      EXPECT_EQ(was_open, builder.history().digest() != before);
      return "close_open_calls";
    }
    case 1: {
      const std::size_t at = random.below(size + 3);
      builder.cut(at);
      return "cut at " + std::to_string(at);
    }
    case 2: {
      const std::size_t count = random.below(size + 2);
      builder.keep_first(count);
      EXPECT_LE(builder.history().messages().size(), size);
      return "keep_first " + std::to_string(count);
    }
    case 3: {
      const HistoryLimits limits{random.below(6), static_cast<std::int64_t>(random.below(60))};
      const std::size_t at = choose_cut(builder.history(), limits);
      if (at == 0) return "no cut";
      const MessagePtr last = builder.history().messages().back();
      builder.cut(at);
      EXPECT_LT(builder.history().messages().size(), size)
          << "a cut that removes nothing would be chosen for ever";
      EXPECT_EQ(builder.history().messages().back(), last);
      return "chosen cut at " + std::to_string(at);
    }
    default:
      builder.push(random_message(random, number));
      return "push";
  }
}

void check_history(std::uint64_t seed) {
  Random random(seed);
  HistoryBuilder builder;
  const std::size_t operations = 1 + random.below(16);
  for (std::size_t i = 0; i < operations; ++i) {
    const std::string what = disturb(builder, random, i);
    ASSERT_EQ(violation(builder.history(), builder.open_calls()), "")
        << "seed " << seed << ", operation " << i << ": " << what;
  }
  ASSERT_EQ(digest_from_scratch(builder.history()), builder.history().digest()) << "seed " << seed;
}

TEST(HistoryProperties, NoSequenceOfOperations_BreaksTheNormalForm) {
  for (std::uint64_t seed = 0; seed < kConversations && !::testing::Test::HasFailure(); ++seed)
    check_history(seed);
}

TEST(HistoryProperties, NormalFormIsAFixedPoint) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    Random random(seed);
    std::vector<Message> messages;
    for (std::size_t i = 0; i < 12; ++i) messages.push_back(*random_message(random, i));
    const Normalised once = normalise(messages);
    messages.clear();
    for (const MessagePtr& message : once.history.messages()) messages.push_back(*message);
    const Normalised twice = normalise(messages);
    ASSERT_EQ(once.history.digest(), twice.history.digest()) << "seed " << seed;
    ASSERT_TRUE(twice.repairs.empty()) << "seed " << seed << ": " << to_string(twice.repairs.front().kind);
  }
}

// ---- random sessions

const FixedPlan kPlan({UseTools{"", {tool_call("p0", "read"), tool_call("p1", "write")}},
                       AddMessage{"unused"}, AddMessage{"note"}, AskPerson{"sure?"}, Sleep{Millis{10}},
                       UseTools{"", {tool_call("q", "flaky")}}});
AgentSpec random_agent(Random& random, bool plan) {
  AgentSpec agent;
  agent.model = "test:model";
  if (plan) agent.plan = JsonArray{};
  agent.tools = {test_tool("read", true), test_tool("write"), test_tool("flaky", false, 2)};
  agent.tools[1].fatal_errors = random.one_in(6);
  agent.in_doubt = random.pick({InDoubt::kPark, InDoubt::kTell});
  agent.tool_failure = random.one_in(8) ? ToolFailureMode::kFail : ToolFailureMode::kContinue;
  agent.limits.max_steps = static_cast<std::uint32_t>(1 + random.below(12));
  agent.limits.max_tool_calls = static_cast<std::uint32_t>(random.below(8));
  agent.limits.max_parallel_tools = static_cast<std::uint32_t>(random.below(4));
  agent.limits.max_messages = static_cast<std::uint32_t>(random.below(8));
  agent.limits.max_context = random.one_in(4) ? 120 : 0;
  if (random.one_in(3)) agent.profile.context_window = 300;  // small enough for summaries
  agent.limits.max_repeats = static_cast<std::uint32_t>(random.below(5));
  agent.limits.max_model_attempts = static_cast<std::uint32_t>(1 + random.below(3));
  return agent;
}

/// Simulates the surroundings of one session: outcomes, users, crashes.
class World {
 public:
  explicit World(std::uint64_t seed)
      : random_(seed),
        plan_(random_.one_in(3)),
        planner_(plan_ ? static_cast<const Planner&>(kPlan) : kAskModel),
        fold_(random_agent(random_, plan_), planner_) {}

  void play() {
    for (int turn = 0; turn < 3 && !fold_.state().deleted; ++turn) {
      if (!fold_.state().turn) fold_.begin("turn " + std::to_string(turn));
      for (int event = 0; fold_.state().turn; ++event) {
        ASSERT_LT(event, 500) << "the turn does not end";
        ASSERT_TRUE(random_.one_in(4) ? intervene() : settle_something())
            << "the loop waits without a reason";
        fold_.run();
        check();
      }
      if (random_.one_in(4))
        fold_.command(CommandVerb::kRewind, "t" + std::to_string(fold_.state().next_turn - 1));
      check();
    }
    ASSERT_TRUE(!fold_.state().deleted || fold_.result().reason == StopReason::kCancelled);
    fold_again();
  }

  /// How many requests were modified, sessions deleted and summaries made.
  struct Reached {
    std::size_t modified = 0, deleted = 0, summaries = 0;
  };
  void add_to(Reached& reached) const {
    for (const Record& record : fold_.log()) {
      if (const auto* command = std::get_if<records::Intervened>(&record.body)) {
        if (command->verb == CommandVerb::kModify) ++reached.modified;
        if (command->verb == CommandVerb::kDelete) ++reached.deleted;
      }
      const auto* compacted = std::get_if<records::Compacted>(&record.body);
      if (compacted != nullptr && !compacted->summary.empty()) ++reached.summaries;
    }
  }

 private:
  void check() const {
    const HistoryBuilder& conversation = fold_.state().conversation;
    ASSERT_EQ(violation(conversation.history(), conversation.open_calls()), "");
    // No call may lack its result between turns or during a model call.
    const bool must_be_closed = !fold_.state().turn || fold_.turn().effect;
    ASSERT_FALSE(must_be_closed && !conversation.open_calls().empty());
  }

  /// Sends a random command. Pauses end at once, or nothing would happen.
  bool intervene() {
    switch (random_.below(16)) {
      case 0:
        fold_.apply(records::Intervened{CommandVerb::kInterrupt, {}, nullptr});
        break;
      case 1:
        fold_.apply(records::Intervened{CommandVerb::kDeadline, {}, nullptr});
        break;
      case 2:
        if (fold_.state().next_turn < 6)
          fold_.apply(records::Intervened{CommandVerb::kEnqueue, "queued", nullptr});
        break;
      case 3:
      case 4:
        fold_.apply(records::Intervened{CommandVerb::kSteer, "steered", nullptr});
        break;
      case 5:
        fold_.apply(records::Intervened{CommandVerb::kPause, {}, nullptr});
        if (random_.one_in(2)) settle_something();
        if (random_.one_in(2)) judge_something();
        fold_.apply(records::Intervened{CommandVerb::kUnpause, {}, nullptr});
        break;
      case 6:
        fold_.apply(records::Intervened{CommandVerb::kAnnotate, "hm", nullptr});
        break;
      case 7:
        fold_.apply(records::Intervened{CommandVerb::kModify, "modified", nullptr});
        break;
      case 8:
        if (random_.one_in(4)) fold_.apply(records::Intervened{CommandVerb::kDelete, {}, nullptr});
        break;
      default:
        fold_.apply(records::StatusChanged{fold_.state().status(), "recovered"});
    }
    return true;
  }

  /// Lets a rule or hook review a call before it runs.
  void judge_something() {
    for (const CallState& call : fold_.turn().calls) {
      if (call.phase != CallState::Phase::kProposed) continue;
      if (random_.one_in(2)) return fold_.apply(park_call(fold_.state(), call, "a rule asks"));
      return fold_.apply(
          records::Decided{{},
                           call.call.id,
                           random_.pick({ApprovalVerb::kApprove, ApprovalVerb::kReject, ApprovalVerb::kEdit}),
                           "{}",
                           by_policy()});
    }
  }

  /// Settles something that the session waits for.
  bool settle_something() {
    const State& state = fold_.state();
    std::vector<const CallState*> running;
    for (const CallState& call : fold_.turn().calls) {
      if (call.phase == CallState::Phase::kRunning) running.push_back(&call);
    }
    const bool effect_runs =
        fold_.turn().effect && fold_.turn().effect->phase == EffectState::Phase::kRunning;
    if (!state.parked.empty() && (random_.one_in(3) || (running.empty() && !effect_runs)))
      return decide(), true;
    if (!running.empty()) return settle(*running[random_.below(running.size())]), true;
    if (effect_runs) return settle(*fold_.turn().effect), true;
    return false;
  }

  void decide() {
    const auto& parked = fold_.state().parked;
    const ParkedStep& step =
        std::next(parked.begin(), static_cast<std::ptrdiff_t>(random_.below(parked.size())))->second;
    fold_.apply(records::Decided{step.id, step.call,
                                 random_.pick({ApprovalVerb::kApprove, ApprovalVerb::kReject,
                                               ApprovalVerb::kEdit, ApprovalVerb::kAnswer}),
                                 random_.pick<const char*>({"", "{}"}), person_by_library()});
  }

  void settle(const CallState& call) {
    records::EffectSettled settled{call.effect, Outcome::kOk, Millis{3}, {}, {}, {}};
    switch (random_.below(4)) {
      case 0:
        settled.outcome = Outcome::kError;
        settled.error = make_error(ErrorCode::kTool, "broken", random_.one_in(2));
        break;
      case 1:
        settled.outcome = Outcome::kCancelled;
        break;
      default:
        settled.result = ToolOutcome{
            {call.call.id, call.call.name, ToolStatus::kOk, random_.pick<const char*>({"x", "y"}), {}},
            random_.one_in(2) ? Json(7) : Json(),
            random_.one_in(3) ? Json(JsonArray{1}) : Json()};
    }
    fold_.apply(std::move(settled));
  }

  void settle(const EffectState& effect) {
    records::EffectSettled settled{effect.effect, Outcome::kOk, Millis{3}, {}, {}, {}};
    if (effect.kind == EffectKind::kModel) {
      if (random_.one_in(5)) {
        settled.outcome = Outcome::kError;
        settled.error = make_error(ErrorCode::kModel, "busy", !random_.one_in(3));
      } else {
        settled.result = random_response();
      }
    }
    fold_.apply(std::move(settled));
  }

  ModelResponse random_response() {
    ModelResponse response = says(random_.one_in(2) ? "words " + std::string(random_.below(100), 'w') : "");
    for (std::size_t i = random_.below(4); i-- > 0;) {
      ToolCallPart call = tool_call(random_.pick<const char*>({"a", "b", "c"}),
                                    random_.pick<const char*>({"read", "write", "flaky", "none"}));
      call.valid = !random_.one_in(8);
      response.parts.emplace_back(std::move(call));
    }
    response.finish = random_.pick({FinishReason::kStop, FinishReason::kToolCalls, FinishReason::kToolCalls,
                                    FinishReason::kToolCalls, FinishReason::kPause,
                                    FinishReason::kMalformedToolCall, FinishReason::kLength});
    return response;
  }

  /// Folding the written records again gives the same state.
  void fold_again() const {
    State again;
    for (const Record& record : fold_.log()) {
      std::vector<RecordBlob> blobs;
      const std::string text = encode_record(record.body, blobs);
      auto body =
          decode_record(kind_name(record.body), text, [](const Digest&) { return Result<std::string>{}; });
      ASSERT_TRUE(body) << body.error().message;
      auto after = praxis::apply(std::move(again), Record{record.time, *std::move(body)});
      ASSERT_TRUE(after) << after.error().message;
      again = *std::move(after);
    }
    ASSERT_EQ(to_json_text(to_json(result_of(again))), to_json_text(to_json(fold_.result())));
    ASSERT_EQ(again.conversation.history().digest(), fold_.state().conversation.history().digest());
    ASSERT_EQ(again.status(), fold_.state().status());
  }

  Random random_;
  bool plan_;
  const Planner& planner_;
  Fold fold_;
};

void check_session(std::uint64_t seed, World::Reached& reached) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  try {
    World world(seed);
    world.play();
    world.add_to(reached);
  } catch (const std::logic_error& error) {
    FAIL() << error.what();
  }
}

TEST(SessionProperties, EveryWalk_EndsWithAValidHistoryAndFoldsTheSame) {
  World::Reached reached;
  for (std::uint64_t seed = 0; seed < kSessions && !::testing::Test::HasFailure(); ++seed)
    check_session(seed, reached);
  EXPECT_GT(reached.modified, 0U);
  EXPECT_GT(reached.deleted, 0U);
  EXPECT_GT(reached.summaries, 0U);
}

}  // namespace
}  // namespace praxis

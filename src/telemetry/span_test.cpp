#include "telemetry/span.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "runtime/testing/trees.hpp"
#include "telemetry/collector.hpp"

namespace praxis::testing {
namespace {

using telemetry::Key;
using telemetry::Operation;
using telemetry::Span;
using telemetry::SpanQuestion;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Span> spans_of(Journal& journal, const SessionId& root, const SpanQuestion& question = {}) {
  std::vector<Span> all;
  const auto complete =
      telemetry::tree_spans(journal, root, question, [&](std::vector<Span> spans) -> Status {
        std::ranges::move(spans, std::back_inserter(all));
        return {};
      });
  EXPECT_TRUE(complete) << complete.error().message;
  return all;
}

class TreeSpans : public Trees {
 protected:
  /// A finished run of agents four levels deep and two wide.
  SessionId finished_tree() {
    Session root = start(chain(4, speaker(), 2));
    const auto result = root.send_user_message("go").report();
    EXPECT_TRUE(result && result->success);
    return root.session_id();
  }
};

TEST_F(TreeSpans, TreeOfDepthFour_IsOneTraceWithTheRightParents) {
  const auto spans = spans_of(*journal_, finished_tree());
  std::map<SpanId, const Span*> by_id;
  for (const Span& span : spans) {
    EXPECT_EQ(span.context.trace, spans.front().context.trace);
    EXPECT_TRUE(by_id.emplace(span.context.span, &span).second) << "two spans have one id";
  }
  const std::map<Operation, std::set<Operation>> above{{Operation::kInvokeAgent, {Operation::kExecuteTool}},
                                                       {Operation::kChat, {Operation::kInvokeAgent}},
                                                       {Operation::kExecuteTool, {Operation::kInvokeAgent}}};
  std::map<std::string, int> agents;
  for (const Span& span : spans) {
    if (span.operation == Operation::kInvokeAgent) ++agents[span.subject];
    if (&span == &spans.front()) {
      EXPECT_EQ(span.context.parent, 0U);
      continue;
    }
    ASSERT_TRUE(by_id.contains(span.context.parent)) << span.subject;
    const Span& parent = *by_id[span.context.parent];
    EXPECT_TRUE(above.at(span.operation).contains(parent.operation));
    EXPECT_GE(span.begin, parent.begin) << span.subject;
    EXPECT_LE(span.end, parent.end) << span.subject;
    // A model call and a tool call are of the agent above them; an agent is of one other agent's call.
    const bool is_agent = span.operation == Operation::kInvokeAgent;
    EXPECT_EQ(span.at(Key::kConversation) == parent.at(Key::kConversation), !is_agent);
  }
  EXPECT_EQ(agents, (std::map<std::string, int>{{"a0", 1}, {"a1", 2}, {"a2", 4}, {"a3", 8}, {"leaf", 16}}));
}

TEST_F(TreeSpans, NamesAndContent_AreAsTheFiltersAtShownLeaveThem) {
  PolicyRules rules;
  rules.filters =
      JsonArray{JsonObject{{"id", "bird"}, {"at", "shown"}, {"matches", "heron"}, {"action", "redact"}}};
  Session session = start(scripted(R"({"text": "A heron."})").id("heron").policy(rules));
  const auto result = session.send_user_message("heron?").report();
  ASSERT_TRUE(result && result->success);
  SpanQuestion question;
  question.content = true;
  std::string all;
  for (const Span& span : spans_of(*journal_, session.session_id(), question)) {
    all += span.subject + '\n';
    for (const auto& [key, value] : span.attributes) all += to_json_text(value) + '\n';
  }
  EXPECT_THAT(all, Not(HasSubstr("heron")));
  EXPECT_THAT(all, HasSubstr("[REDACTED:bird]"));
}

TEST_F(TreeSpans, Totals_AreThoseOfTheLogs) {
  const SessionId root = finished_tree();
  JournalTree tree(journal_, {.root = root});
  ASSERT_TRUE(tree.refresh());
  const Usage logged = tree.nodes().front().subtree;
  Usage sum;
  std::size_t calls = 0;
  for (const Span& span : spans_of(*journal_, root)) {
    if (span.usage) sum += *span.usage;
    calls += span.operation == Operation::kExecuteTool ? 1 : 0;
  }
  EXPECT_EQ(sum, logged);
  EXPECT_GT(sum.input, 0);
  EXPECT_EQ(calls, 30U);
}

TEST_F(TreeSpans, TraceIds_AreThoseThatTheLogRecords) {
  const SessionId root = finished_tree();
  const auto records = read_records(*journal_, root);
  ASSERT_TRUE(records);
  const auto& created = std::get<records::SessionCreated>(records->front().record.body);
  const auto spans = spans_of(*journal_, root);
  EXPECT_EQ(spans.front().context, created.trace);
  const auto made = telemetry::session_spans(*records, {});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->children, SizeIs(2));
  for (const auto& child : made->children) {
    const auto log = read_records(*journal_, child.session);
    ASSERT_TRUE(log);
    EXPECT_EQ(std::get<records::SessionCreated>(log->front().record.body).trace.parent, child.above.span);
  }
}

TEST_F(TreeSpans, Content_IsThereOnlyWhenAskedForAndRedacted) {
  // Not a key of any service: its form is that of the rule for passwords after their name.
  const std::string secret = std::string("password = \"") + "xK9#mQ2$vL7pR4tZ" + "\"";
  Agent agent = scripted(R"({"tool_calls":[{"name":"echo","id":"e","arguments":{"text":"ping"}}]}
{"text":"pong"})");
  Session session = start(agent.id("talker").use(echo_tool()));
  ASSERT_TRUE(session.send_user_message("Remember: " + secret).report());
  const auto text_of = [&](const SpanQuestion& question) {
    return to_json_text(telemetry::trace_request(spans_of(*journal_, session.session_id(), question), {},
                                                 telemetry::Convention::kGenAi138));
  };
  EXPECT_THAT(text_of({}), Not(HasSubstr("Remember")));
  EXPECT_THAT(text_of({}), Not(HasSubstr("pong")));
  const std::string open = text_of({.content = true});
  EXPECT_THAT(open, HasSubstr("xK9#mQ2"));
  const std::string redacted = text_of({.content = true, .redact = telemetry::make_redaction()});
  EXPECT_THAT(redacted, Not(HasSubstr("xK9#mQ2")));
  EXPECT_THAT(redacted, HasSubstr("Remember"));
  EXPECT_THAT(redacted, HasSubstr("gen_ai.tool.call.arguments"));
  EXPECT_THAT(redacted, HasSubstr("ping"));
  EXPECT_THAT(redacted, HasSubstr("pong"));
}

TEST_F(TreeSpans, LongContent_IsBounded) {
  Agent agent = scripted(R"({"text":"short"})");
  Session session = start(agent.id("talker"));
  ASSERT_TRUE(session.send_user_message(std::string(200'000, 'x')).report());
  for (const Span& span : spans_of(*journal_, session.session_id(), {.content = true, .max_content = 1000})) {
    for (const auto& [key, value] : span.attributes) EXPECT_LE(to_json_text(value).size(), 2100U);
  }
}

// ---- logs that are hard to make with a runtime

/// A log, written record by record, a second apart.
struct WrittenLog {
  std::vector<StoredRecord> records;

  WrittenLog() {
    AgentSpec agent;
    agent.id = "writer";
    agent.model = "openai:gpt-5";
    records::SessionCreated created;
    created.session = SessionId("s1");
    created.agent = std::make_shared<const AgentSpec>(std::move(agent));
    created.trace = new_trace(1, 2);
    add(std::move(created));
  }
  WrittenLog& add(RecordBody body) {
    const auto seq = records.size() + 1;
    records.push_back({seq, {UnixMillis{static_cast<std::int64_t>(seq) * 1000}, std::move(body)}});
    return *this;
  }
  WrittenLog& turn(const std::string& id) { return add(records::TurnStarted{.turn = TurnId(id)}); }
  WrittenLog& end(const std::string& id, StopReason reason = StopReason::kFinished) {
    records::TurnSettled settled;
    settled.turn = TurnId(id);
    settled.reason = reason;
    return add(std::move(settled));
  }
  WrittenLog& intend(EffectKind kind, const std::string& id, std::uint32_t attempt = 1) {
    records::EffectIntended intended;
    intended.effect = EffectId(id);
    intended.kind = kind;
    intended.attempt = attempt;
    if (kind == EffectKind::kTool) {
      intended.tool = "post";
      intended.call = CallId("c1");
    }
    return add(std::move(intended));
  }
  WrittenLog& settle(const std::string& id, std::optional<Error> error = {}) {
    records::EffectSettled settled;
    settled.effect = EffectId(id);
    settled.outcome = error ? Outcome::kError : Outcome::kOk;
    settled.error = std::move(error);
    return add(std::move(settled));
  }
  WrittenLog& recovered(const Usage& spent = {}) {
    records::StatusChanged changed;
    changed.cause = "recovered";
    changed.spent = spent;
    return add(std::move(changed));
  }
  std::vector<Span> spans(const SpanQuestion& question = {}) const {
    auto made = telemetry::session_spans(records, question);
    EXPECT_TRUE(made);
    return made ? std::move(made->spans) : std::vector<Span>{};
  }
};

TEST(SessionSpans, ToolCallThatGoesOnAfterACrash_IsOneSpan) {
  WrittenLog log;
  log.turn("t1").intend(EffectKind::kTool, "e1").recovered().intend(EffectKind::kTool, "e1", 2).settle("e1");
  const auto spans = log.end("t1").spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[1].operation, Operation::kExecuteTool);
  EXPECT_EQ(spans[1].begin.value, 3000);
  EXPECT_EQ(spans[1].end.value, 6000);
  EXPECT_EQ(spans[1].at(Key::kAttempt), 2);
}

TEST(SessionSpans, ModelCallThatAProcessTookAlong_HasTheUsageThatWasAssumed) {
  WrittenLog log;
  log.turn("t1").intend(EffectKind::kModel, "e1").recovered({.input = 7}).intend(EffectKind::kModel, "e1", 2);
  const auto spans = log.settle("e1").end("t1").spans();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].error, "interrupted");
  EXPECT_EQ(spans[1].at(Key::kInputTokens), 7);
  EXPECT_EQ(spans[0].at(Key::kInputTokens), 7);
  EXPECT_NE(spans[1].context.span, spans[2].context.span);
}

TEST(SessionSpans, FailedAttempt_IsASpanWithTheKindOfItsError) {
  WrittenLog log;
  log.turn("t1").intend(EffectKind::kModel, "e1");
  log.settle("e1", make_error(ErrorCode::kModel, ErrorKind::kOverloaded, "busy"));
  const auto spans = log.intend(EffectKind::kModel, "e1", 2).settle("e1").end("t1").spans();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].error, "overloaded");
  EXPECT_EQ(spans[1].message, "") << "a message may hold content";
  EXPECT_EQ(spans[2].error, "");
  EXPECT_EQ(spans[2].at(Key::kProvider), "openai");
  EXPECT_EQ(spans[2].at(Key::kRequestModel), "gpt-5");
}

TEST(SessionSpans, LaterTurn_IsASpanOfItsOwnInTheSameTrace) {
  WrittenLog log;
  log.turn("t1").end("t1").turn("t2").end("t2", StopReason::kMaxSteps);
  const auto spans = log.spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].context.trace, spans[1].context.trace);
  EXPECT_NE(spans[0].context.span, spans[1].context.span);
  EXPECT_EQ(spans[1].context.parent, 0U);
  EXPECT_EQ(spans[1].error, "max_steps");
  const auto later = log.spans({.after = 3});
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].context, spans[1].context);
}

TEST(SessionSpans, OpenTurn_IsMarkedOrLeftOut) {
  WrittenLog log;
  log.turn("t1").end("t1").turn("t2").intend(EffectKind::kModel, "e1");
  const auto spans = log.spans();
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].at(Key::kIncomplete), true);
  EXPECT_EQ(spans[2].at(Key::kIncomplete), true);
  EXPECT_THAT(log.spans({.open_turn = false}), SizeIs(1));
}

TEST(SessionSpans, LogOfAnOldVersion_HasTheSameInventedTraceEachTime) {
  WrittenLog log;
  records::SessionCreated created = std::get<records::SessionCreated>(log.records.front().record.body);
  created.trace = {};
  log.records.front().record.body = std::move(created);
  log.turn("t1").end("t1");
  const auto spans = log.spans();
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_FALSE(spans[0].context.trace.empty());
  EXPECT_EQ(spans[0].context, log.spans()[0].context);
}

TEST(SessionSpans, WaitForAHuman_LastsFromTheStepToTheDecision) {
  WrittenLog log;
  records::Parked parked;
  parked.step.id = ParkId("p1");
  parked.step.tool = "post";
  log.turn("t1").add(std::move(parked));
  records::Decided decided;
  decided.park = ParkId("p1");
  decided.verb = ApprovalVerb::kReject;
  const auto spans = log.add(std::move(decided)).end("t1").spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[1].operation, Operation::kWait);
  EXPECT_EQ(spans[1].end - spans[1].begin, Millis{1000});
  EXPECT_EQ(spans[1].at(Key::kDecision), "deny");
}

}  // namespace
}  // namespace praxis::testing

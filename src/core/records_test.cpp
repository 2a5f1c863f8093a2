#include "praxis/core/records.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "praxis/core/state.hpp"

namespace praxis {
namespace {

/// Stores the payloads of large records.
struct Blobs {
  std::vector<RecordBlob> written;
  std::map<Digest, std::string> stored;

  std::string encode(const RecordBody& body) {
    written.clear();
    std::string text = encode_record(body, written);
    for (const RecordBlob& blob : written) stored[blob.digest] = blob.bytes;
    return text;
  }
  Result<RecordBody> decode(std::string_view kind, std::string_view text) const {
    return decode_record(kind, text, [&](const Digest& digest) -> Result<std::string> {
      const auto found = stored.find(digest);
      if (found == stored.end()) return fail(ErrorCode::kJournal, "blob " + digest.hex() + " is missing");
      return found->second;
    });
  }
};

/// Encodes, decodes and encodes again: nothing may be lost.
RecordBody round_trip(const RecordBody& body) {
  Blobs blobs;
  const std::string text = blobs.encode(body);
  auto decoded = blobs.decode(kind_name(body), text);
  if (!decoded) throw std::logic_error(decoded.error().message);
  EXPECT_EQ(blobs.encode(*decoded), text) << kind_name(body);
  EXPECT_EQ(is_derived(*decoded), is_derived(body));
  return *std::move(decoded);
}

template <class R>
R round_trip_as(const R& body) {
  return std::get<R>(round_trip(body));
}

Message rich_message() {
  Message message = text_message(Role::kAssistant, "hello");
  const auto vendor = std::make_shared<const VendorState>(VendorState{"v", "m", R"({"sig":"x"})"});
  message.id = MessageId{"m3"};
  message.created = {123};
  message.parts.emplace_back(ReasoningPart{"why", "short", vendor});
  message.parts.emplace_back(ToolCallPart{CallId{"c1"}, "read", R"({"a":1})", true, vendor});
  message.parts.emplace_back(ToolCallPart{CallId{"c2"}, "read", R"({"a")", false, nullptr});
  message.parts.emplace_back(ToolResultPart{
      CallId{"c1"}, "read", ToolStatus::kError, "no", {{{"image/png", "\x01\xff", ""}, vendor}}});
  message.parts.emplace_back(ImagePart{{"image/png", "", "https://example.com/a.png"}, nullptr});
  message.parts.emplace_back(FilePart{{"text/plain", "bytes", ""}, "a.txt", vendor});
  message.parts.emplace_back(RefusalPart{"no", nullptr});
  message.parts.emplace_back(CompactionPart{"so far", vendor});
  message.parts.emplace_back(OpaquePart{"web_search_call", vendor});
  message.metadata = JsonObject{{"mine", 1}};
  return message;
}

AgentSpecPtr rich_agent() {
  AgentSpec agent;
  agent.id = "helper";
  agent.model = "test:model";
  agent.instructions = "be brief";
  agent.options.temperature = 0.25;
  agent.options.extra = JsonObject{{"k", JsonArray{1, 2.5}}};
  ToolSpec tool;
  tool.definition.name = "read";
  tool.definition.parameters = JsonObject{{"type", "object"}};
  tool.definition.idempotent = true;
  tool.definition.timeout = Millis{5'000};
  tool.retries = 2;
  tool.fatal_errors = true;
  tool.result_from = ResultFrom::kPerson;
  agent.tools = {tool};
  agent.limits.max_usd = {1'234'567};
  agent.limits.timeout = Millis{60'000};
  agent.limits.max_wait = Millis{3'600'000};
  agent.bounds = JsonArray{nullptr, JsonObject{{"deny", JsonArray{"read"}}}};
  agent.tool_failure = ToolFailureMode::kFail;
  agent.in_doubt = InDoubt::kTell;
  agent.plan = JsonArray{JsonObject{{"finish", "x"}}};
  return std::make_shared<const AgentSpec>(agent);
}

Error rich_error() {
  Error error = make_error(ErrorCode::kModel, "too busy", true).set("retry_after_ms", 10);
  error.cause = std::make_shared<const Error>(make_error(ErrorCode::kInternal, "why"));
  return error;
}

TEST(Records, SessionCreated_SurvivesTheJournal) {
  const records::SessionCreated created{
      kRecordVersion,    SessionId{"s"}, SessionId{"p"}, 2, "lead/helper", SessionId{"f"}, 9,
      ~std::uint64_t{0}, rich_agent()};
  const auto back = round_trip_as(created);
  EXPECT_EQ(back.seed, ~std::uint64_t{0});
  EXPECT_EQ(back.depth, 2U);
  EXPECT_EQ(back.path, "lead/helper");
  EXPECT_EQ(back.agent->bounds, rich_agent()->bounds);
  EXPECT_EQ(back.agent->tools[0].result_from, ResultFrom::kPerson);
  EXPECT_EQ(back.forked_from.str(), "f");
  EXPECT_EQ(back.forked_at, 9U);
  EXPECT_EQ(back.agent->limits, rich_agent()->limits);
  EXPECT_EQ(back.agent->options, rich_agent()->options);
  EXPECT_EQ(back.agent->tools[0].definition.timeout, Millis{5'000});
  EXPECT_EQ(back.agent->tools[0].retries, 2U);
  EXPECT_TRUE(back.agent->tools[0].fatal_errors);
  EXPECT_EQ(back.agent->in_doubt, InDoubt::kTell);
  EXPECT_EQ(back.agent->plan, rich_agent()->plan);
}

TEST(Records, PreparedAgent_GivesTheSameRecordAndState) {
  records::SessionCreated created;
  created.session = SessionId{"s"};
  created.agent = rich_agent();
  std::vector<RecordBlob> blobs;
  const std::string text = encode_record(created, blobs);
  State plain, prepared;
  ASSERT_TRUE(apply_to(plain, {UnixMillis{1}, created}));
  created.prepared = std::make_shared<const PreparedAgent>(prepare_agent(*created.agent));
  EXPECT_EQ(encode_record(created, blobs), text);
  ASSERT_TRUE(apply_to(prepared, {UnixMillis{1}, created}));
  EXPECT_EQ(prepared.described, plain.described);
  EXPECT_EQ(prepared.overhead_tokens, plain.overhead_tokens);
}

TEST(Records, MessageAppended_SurvivesTheJournal) {
  const auto back = round_trip_as(
      records::MessageAppended{std::make_shared<const Message>(rich_message()), MessageSource::kImport});
  EXPECT_EQ(to_json(*back.message), to_json(rich_message()));
  EXPECT_EQ(std::get<ToolResultPart>(back.message->parts[4]).images[0].source.data, "\x01\xff");
}

TEST(Records, WhatAHookChangedSurvivesTheJournal) {
  const auto before = std::make_shared<const Message>(text_message(Role::kUser, "before"));
  const auto said = round_trip_as(records::MessageAppended{std::make_shared<const Message>(rich_message()),
                                                           MessageSource::kUser, NoteReason::kNone, before});
  ASSERT_TRUE(said.original);
  EXPECT_EQ(said.original->text(), "before");
  const auto steered =
      round_trip_as(records::Intervened{CommandVerb::kSteer, "after", nullptr, by_library(), "before"});
  EXPECT_EQ(steered.original, "before");
  records::EffectSettled settled;
  settled.effect = EffectId{"e1"};
  settled.result = ToolOutcome{{CallId{}, "", ToolStatus::kOk, "after", {}, {}}, nullptr, nullptr};
  settled.original = std::make_shared<const records::ToolOriginal>(
      records::ToolOriginal{ToolOutcome{{CallId{}, "", ToolStatus::kOk, "before", {}, {}}, Json(1), nullptr},
                            make_error(ErrorCode::kTool, "broken")});
  const auto back = round_trip_as(settled);
  ASSERT_TRUE(back.original && back.original->result && back.original->error);
  EXPECT_EQ(back.original->result->result.text, "before");
  EXPECT_EQ(back.original->result->value, Json(1));
  EXPECT_EQ(back.original->error->message, "broken");
}

TEST(Records, EffectIntended_SurvivesTheJournal) {
  records::EffectIntended intent;
  intent.effect = EffectId{"e7"};
  intent.step = 4;
  intent.attempt = 3;
  intent.request.history = digest_of("the conversation");
  std::fill(intent.request.history.bytes.begin() + 16, intent.request.history.bytes.end(), std::uint8_t{0});
  intent.patch.instructions = "";
  intent.patch.options = rich_agent()->options;
  intent.delay = Millis{250};
  EXPECT_FALSE(round_trip_as(intent).non_strict);
  intent.non_strict = true;
  const auto back = round_trip_as(intent);
  EXPECT_TRUE(back.non_strict);
  EXPECT_EQ(back.patch, intent.patch);
  EXPECT_EQ(back.delay, intent.delay);
  EXPECT_EQ(back.attempt, 3U);
  EXPECT_EQ(back.step, 4U);
  EXPECT_EQ(back.request, intent.request);
}

TEST(Records, EffectIntendedOfATool_SurvivesTheJournal) {
  records::EffectIntended intent;
  intent.effect = EffectId{"e7"};
  intent.kind = EffectKind::kTool;
  intent.tool = "read";
  intent.call = CallId{"c1"};
  intent.attempt = 3;
  const auto back = round_trip_as(intent);
  EXPECT_EQ(back.kind, EffectKind::kTool);
  EXPECT_EQ(back.effect.str(), "e7");
  EXPECT_EQ(back.tool, "read");
  EXPECT_EQ(back.call.str(), "c1");
  EXPECT_EQ(back.attempt, 3U);
}

TEST(Records, EffectSettled_SurvivesTheJournal) {
  ModelResponse response;
  response.parts = rich_message().parts;
  response.finish = FinishReason::kToolCalls;
  response.usage = {10, 20, 3, 4, 2, 5, {1'234'567}, true};
  response.warnings = {"slow"};
  records::EffectSettled settled{EffectId{"e1"}, Outcome::kOk, Millis{12}, response, {}, "hook"};
  const auto model = std::get<ModelResponse>(round_trip_as(settled).result);
  EXPECT_EQ(model.usage, response.usage);
  EXPECT_EQ(model.finish, FinishReason::kToolCalls);
  for (const char* raw : {"", "tool_calls", "tool_use"}) {
    std::get<ModelResponse>(settled.result).finish_raw = raw;
    EXPECT_EQ(std::get<ModelResponse>(round_trip_as(settled).result).finish_raw, raw);
  }
  ToolResultPart said{CallId{"c"}, "read", ToolStatus::kError, "text", {}, {}};
  said.images = std::get<ToolResultPart>(rich_message().parts[4]).images;
  settled.result = ToolOutcome{said, Json(JsonArray{1}), Json(JsonArray{2})};
  const auto tool = std::get<ToolOutcome>(round_trip_as(settled).result);
  EXPECT_EQ(tool.value, Json(JsonArray{1}));
  EXPECT_EQ(tool.memory, Json(JsonArray{2}));
  said.id = CallId{};
  said.name.clear();
  EXPECT_EQ(to_json(tool.result), to_json(said)) << "the call implies the session";
  settled.result = {};
  settled.outcome = Outcome::kUnknown;
  settled.error = rich_error();
  const auto failed = round_trip_as(settled);
  EXPECT_EQ(to_json(*failed.error), to_json(rich_error()));
  EXPECT_EQ(failed.outcome, Outcome::kUnknown);
  EXPECT_EQ(failed.by, "hook");
  EXPECT_EQ(failed.spent, Usage{});
  settled.spent = {100, 20, 0, 0, 0, 0, {7}, true};
  EXPECT_EQ(round_trip_as(settled).spent, settled.spent);
}

TEST(Records, EveryOtherKind_SurvivesTheJournal) {
  EXPECT_EQ(round_trip_as(records::TurnStarted{TurnId{"t1"}}).turn.str(), "t1");
  const ParkedStep step{ParkId{"p1"}, ParkKind::kInDoubt, "?", CallId{"c"}, "read", "{}", digest_of("x")};
  EXPECT_EQ(to_json(round_trip_as(records::Parked{step}).step), to_json(step));
  const auto decided = round_trip_as(
      records::Decided{ParkId{"p1"}, CallId{"c"}, ApprovalVerb::kEdit, "{}", {"ada", Surface::kCli}});
  EXPECT_EQ(decided.author, (Author{"ada", Surface::kCli}));
  EXPECT_EQ(decided.verb, ApprovalVerb::kEdit);
  EXPECT_EQ(decided.call.str(), "c");
  const auto rewound = round_trip_as(records::Intervened{CommandVerb::kRewind, "t1", nullptr, by_library()});
  EXPECT_EQ(rewound.text, "t1");
  EXPECT_EQ(rewound.author, by_library());
  EXPECT_EQ(round_trip_as(records::Intervened{CommandVerb::kSetAgent, "", rich_agent()}).agent->id, "helper");
  const auto speaker = round_trip_as(
      records::SpeakerSet{"two", {"three", "four"}, "chain", JsonObject{{"kind", "chain"}}, by_library()});
  EXPECT_EQ(speaker.agent + speaker.cause + speaker.next.at(1), "twochainfour");
  EXPECT_EQ(speaker.strategy, Json(JsonObject{{"kind", "chain"}}));
  EXPECT_EQ(speaker.author, by_library());
  EXPECT_EQ(round_trip_as(records::Compacted{17, "max_messages"}).keep_from, 17U);
  EXPECT_EQ(round_trip_as(records::Compacted{17, "context_window", "in short"}).summary, "in short");
  EXPECT_EQ(round_trip_as(records::TurnStarted{TurnId{"t1"}, JsonObject{{"type", "string"}}}).output_schema,
            Json(JsonObject{{"type", "string"}}));
  records::EffectIntended summary;
  summary.summary = {5, "context_window"};
  ASSERT_TRUE(round_trip_as(summary).summary);
  EXPECT_EQ(round_trip_as(summary).summary->keep_from, 5U);
  EXPECT_EQ(round_trip_as(summary).summary->cause, "context_window");
  records::EffectIntended consulting;
  consulting.consult = Consultation{"clarify", "Is it clear?", JsonObject{{"type", "object"}}};
  ASSERT_TRUE(round_trip_as(consulting).consult);
  EXPECT_EQ(round_trip_as(consulting).consult->purpose, "clarify");
  EXPECT_EQ(round_trip_as(consulting).consult->prompt, "Is it clear?");
  EXPECT_EQ(round_trip_as(consulting).consult->schema, consulting.consult->schema);
  EXPECT_EQ(round_trip_as(records::StatusChanged{SessionStatus::kModified, "recovered"}).cause, "recovered");
  const records::StatusChanged taken{SessionStatus::kRunning, "recovered", {100, 20, 0, 0, 0, 0, {7}, true}};
  EXPECT_EQ(round_trip_as(taken).spent, taken.spent);
  const auto ended =
      round_trip_as(records::TurnSettled{TurnId{"t1"}, StopReason::kPlanFailed, "text", rich_error()});
  EXPECT_EQ(ended.reason, StopReason::kPlanFailed);
  EXPECT_EQ(ended.text, "text");
}

TEST(Records, RecordsOfTheAgentTree_SurviveTheJournal) {
  ToolCallPart call;
  call.id = CallId{"c.1"};
  call.name = "read";
  call.arguments = R"({"path":"x"})";
  const auto proposed = round_trip_as(records::CallProposed{CallId{"c"}, call, "k#1"});
  EXPECT_EQ(proposed.within.str(), "c");
  EXPECT_EQ(proposed.call.id.str(), "c.1");
  EXPECT_EQ(proposed.call.arguments, call.arguments);
  EXPECT_EQ(proposed.key, "k#1");
  const auto spawned = round_trip_as(records::ChildSpawned{SessionId{"s2"}, CallId{"c"}, "helper", "k#2"});
  EXPECT_EQ(spawned.child.str(), "s2");
  EXPECT_EQ(spawned.call.str(), "c");
  EXPECT_EQ(spawned.agent, "helper");
  EXPECT_EQ(spawned.key, "k#2");
  Usage usage;
  usage.input = 7;
  usage.cost = {12};
  const auto settled = round_trip_as(records::ChildSettled{SessionId{"s2"}, StopReason::kTokenLimit, usage});
  EXPECT_EQ(settled.child.str(), "s2");
  EXPECT_EQ(settled.reason, StopReason::kTokenLimit);
  EXPECT_EQ(settled.usage, usage);
  records::ChildSettled counted{SessionId{"s2"}, StopReason::kFinished, usage, 3};
  counted.started = {{"http", 2}, {"kv", 1}};
  EXPECT_EQ(round_trip_as(counted).started, counted.started);
}

TEST(Records, LargeText_IsStoredOutsideTheRecord) {
  const std::string large(kBlobThreshold + 1, 'x'), small(kBlobThreshold, 'y');
  Message message = text_message(Role::kUser, large);
  message.parts.emplace_back(TextPart{small, nullptr});
  const records::MessageAppended appended{std::make_shared<const Message>(message), MessageSource::kUser};
  Blobs blobs;
  const std::string text = blobs.encode(appended);
  ASSERT_EQ(blobs.written.size(), 1U);
  EXPECT_EQ(blobs.written[0].bytes, large);
  EXPECT_EQ(text.find(large), std::string::npos);
  EXPECT_NE(text.find(small), std::string::npos);
  EXPECT_EQ(round_trip_as(appended).message->text(), large + small);
}

TEST(Records, DataThatLooksLikeABlobReference_StaysData) {
  const std::string digest = digest_of("of another session").hex();
  const std::string large(kBlobThreshold + 1, 'x');
  for (const Json& hostile : {Json(JsonObject{{"$blob", digest}, {"bytes", 3}}),
                              Json(JsonObject{{"$$blob", digest}}), Json(JsonObject{{"$", "$"}}),
                              Json(JsonObject{{"$blob", large}, {"a", JsonObject{{"$blob", digest}}}}),
                              Json(JsonArray{large, "\"$blob\""})}) {
    Message message = text_message(Role::kUser, "x");
    message.metadata = hostile;
    const auto back = round_trip_as(
        records::MessageAppended{std::make_shared<const Message>(message), MessageSource::kUser});
    EXPECT_EQ(back.message->metadata, hostile);
  }
}

TEST(Records, ValuesOfTheMaximalForeignDepth_CanBeReadBack) {
  const Json deep = parse_json(std::string(64, '[') + std::string(64, ']')).value();
  const records::EffectSettled settled{
      EffectId{"e"}, Outcome::kOk, {}, ToolOutcome{{CallId{"c"}, "t", {}, "", {}}, deep, nullptr}, {}, {}};
  EXPECT_EQ(std::get<ToolOutcome>(round_trip_as(settled).result).value, deep);
}

TEST(Records, UnreadableRecords_AreRefusedWithTheReason) {
  const auto refusal = [](std::string_view kind, std::string_view text) {
    const auto decoded = Blobs{}.decode(kind, text);
    EXPECT_FALSE(decoded.has_value()) << kind << ' ' << text;
    EXPECT_EQ(decoded.error().code, ErrorCode::kJournal);
    return decoded.error().message;
  };
  EXPECT_EQ(refusal("telepathy", "{}"),
            "record telepathy: this build does not know such a record; a newer praxis wrote it");
  EXPECT_NE(refusal("turn_started", "{").find("invalid JSON"), std::string::npos);
  EXPECT_NE(
      refusal("turn_settled", R"({"text":{"$blob":")" + digest_of("x").hex() + R"("}})").find("is missing"),
      std::string::npos);
  EXPECT_NE(refusal("session_created", R"({"version":99,"agent":{}})").find("format version 99"),
            std::string::npos);
  EXPECT_NE(refusal("session_created", R"({"version":1})").find("agent"), std::string::npos);
  refusal("turn_settled", R"({"turn":"t1"})");
  refusal("message_appended", R"({"source":"user"})");
  refusal("message_appended", R"({"source":"missing","message":{"role":"user","content":"x"}})");
  refusal("effect_intended", R"({"kind":"magic"})");
  refusal("effect_settled", R"({"effect":"e1","outcome":"done"})");
  refusal("effect_settled", R"({"effect":"e1","result":{"text":"a picture","images":[{}]}})");
  refusal("parked", "{}");
  refusal("decided", "{}");
  refusal("intervened", "{}");
  refusal("status_changed", "{}");
  refusal("child_settled", "{}");
}

}  // namespace
}  // namespace praxis

// The Agent Client Protocol: prompts in, updates out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "praxis/base/base64.hpp"
#include "protocols/acp_calls.hpp"
#include "protocols/acp_content.hpp"
#include "protocols/acp_updates.hpp"

namespace praxis::protocols {
namespace {

using ::testing::HasSubstr;

Json json(const std::string& text) { return parse_json(text).value(); }

Event event_of(EventBody body, const std::string& session = "root") {
  Event event;
  event.agent = {SessionId(session), session == "root" ? 0U : 1U, SessionId(session == "root" ? "" : "root")};
  event.turn = TurnId("t1");
  event.step = 2;
  event.body = std::move(body);
  return event;
}

/// The updates of several events, each as `kind: text` or `kind: status`.
std::vector<std::string> shown(AcpUpdates& updates, const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) {
    for (const Json& each : updates.of(event)) {
      const std::string text = json_string(json_at(each, "content"), "text");
      all.push_back(json_string(each, "sessionUpdate") + ": " +
                    (text.empty() ? json_string(each, "status") : text));
    }
  }
  return all;
}

TEST(AcpContent, Prompt_KeepsTextResourcesAndImagesInTheirOrder) {
  const std::string pixels = base64_encode("pixels");
  const auto message = acp_prompt(json(
      R"([{"type": "text", "text": "Look at "}, {"type": "resource_link", "uri": "file:///a/b.txt", "name": "b.txt"},)"
      R"({"type": "image", "mimeType": "image/png", "data": ")" +
      pixels +
      R"("}, {"type": "resource", "resource": {"uri": "file:///c.md", "text": "inside"}},)"
      R"({"type": "resource", "resource": {"uri": "file:///d.pdf", "mimeType": "application/pdf", "blob": ")" +
      pixels + R"("}}])"));
  ASSERT_TRUE(message) << message.error().message;
  ASSERT_EQ(message->parts.size(), 4U);
  EXPECT_EQ(std::get<TextPart>(message->parts[0]).text, "Look at [b.txt](file:///a/b.txt)");
  EXPECT_EQ(std::get<ImagePart>(message->parts[1]).source.data, "pixels");
  EXPECT_EQ(std::get<TextPart>(message->parts[2]).text,
            "\n<resource uri=\"file:///c.md\">\ninside\n</resource>\n");
  EXPECT_EQ(std::get<FilePart>(message->parts[3]).name, "d.pdf");
}

TEST(AcpContent, PromptThatCannotBeUsed_SaysWhy) {
  const auto why = [](const char* blocks) { return acp_prompt(json(blocks)).error().message; };
  EXPECT_THAT(why("[]"), HasSubstr("no content"));
  EXPECT_THAT(why(R"([{"type": "audio", "data": "", "mimeType": "audio/wav"}])"), HasSubstr("\"audio\""));
  EXPECT_THAT(why(R"([{"type": "image", "data": "&", "mimeType": "image/png"}])"), HasSubstr("base64"));
  EXPECT_THAT(why(R"([{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}])"),
              HasSubstr("neither"));
}

TEST(AcpUpdates, Deltas_AreNotRepeatedByTheWholeText_AndKeepCharactersWhole) {
  AcpUpdates updates(SessionId("root"), AcpUpdates::Of::kPresent);
  EXPECT_EQ(
      shown(updates, {event_of(events::ModelRequested{}), event_of(events::TextDelta{"gr\xc3"}),
                      event_of(events::TextDelta{"\xbc\xc3\x9f"}), event_of(events::TextDelta{"e\xf0\x9f"}),
                      event_of(events::TextDelta{"\x98\x80!"}), event_of(events::AssistantText{"grüße😀!"}),
                      event_of(events::ModelRequested{}), event_of(events::AssistantText{"Whole."})}),
      (std::vector<std::string>{"agent_message_chunk: gr", "agent_message_chunk: üß",
                                "agent_message_chunk: e", "agent_message_chunk: 😀!",
                                "agent_message_chunk: Whole."}));
}

TEST(AcpUpdates, OfSubAgents_OnlyCallsAreShown) {
  AcpUpdates updates(SessionId("root"), AcpUpdates::Of::kPresent);
  EXPECT_TRUE(shown(updates, {event_of(events::TextDelta{"secret thoughts"}, "child"),
                              event_of(events::AssistantText{"an answer"}, "child")})
                  .empty());
  const auto calls = updates.of(event_of(events::ToolCalled{CallId("c1"), "kv", "{}"}, "child"));
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(json_string(calls[0], "toolCallId"), "child/c1");
  EXPECT_THAT(json_string(calls[0], "title"), HasSubstr("sub-agent: "));
}

TEST(AcpUpdates, Call_GoesFromPendingToItsEnd_AndARefusedOneFails) {
  AcpUpdates updates(SessionId("root"), AcpUpdates::Of::kPresent);
  events::ToolCompleted done;
  done.call = CallId("c1");
  done.name = "kv";
  done.text = "stored";
  records::Decided refused;
  refused.call = CallId("c2");
  refused.verb = ApprovalVerb::kReject;
  EXPECT_EQ(shown(updates, {event_of(events::ToolCalled{CallId("c1"), "kv", "{}"}),
                            event_of(events::ToolCalled{CallId("c1"), "kv", "{}"}),
                            event_of(events::ToolStarted{CallId("c1"), "kv", "{}"}), event_of(done),
                            event_of(events::ToolCalled{CallId("c2"), "shell", "{}"}),
                            event_of(events::StepDecided{refused})}),
            (std::vector<std::string>{"tool_call: pending", "tool_call_update: in_progress",
                                      "tool_call_update: completed", "tool_call: pending",
                                      "tool_call_update: failed"}));
}

TEST(AcpUpdates, EndOfATurn_ShowsTheTextOfAPlan_AndEndsOpenCalls) {
  AcpUpdates updates(SessionId("root"), AcpUpdates::Of::kPresent);
  AgentResult result;
  result.success = true;
  result.text = "Said by no model.";
  EXPECT_EQ(shown(updates, {event_of(events::ToolCalled{CallId("c1"), "kv", "{}"}),
                            event_of(events::TurnCompleted{result})}),
            (std::vector<std::string>{"tool_call: pending", "tool_call_update: failed",
                                      "agent_message_chunk: Said by no model."}));
}

TEST(AcpUpdates, MessagesOfTheUser_AreShownOfThePastOnly) {
  const auto said = [](AcpUpdates::Of of, MessageSource source) {
    AcpUpdates updates(SessionId("root"), of);
    auto message = std::make_shared<Message>(text_message(Role::kUser, "Hi"));
    return shown(updates, {event_of(events::MessageAdded{message, source})}).size();
  };
  EXPECT_EQ(said(AcpUpdates::Of::kPast, MessageSource::kUser), 1U);
  EXPECT_EQ(said(AcpUpdates::Of::kPresent, MessageSource::kUser), 0U) << "the editor sent it";
  EXPECT_EQ(said(AcpUpdates::Of::kPresent, MessageSource::kSteer), 1U) << "it may come from elsewhere";
  EXPECT_EQ(said(AcpUpdates::Of::kPast, MessageSource::kRuntime), 0U);
}

TEST(AcpCalls, KindAndPlace_FollowFromToolAndArguments) {
  AgentSpec spec;
  ToolSpec reads;
  reads.definition.name = "file_read";
  reads.definition.description = "Reads files. Paths are inside of: /none, /usr";
  spec.tools.push_back(reads);
  const auto members = [&](const char* tool, const char* arguments) {
    return Json(acp_call_members({"c1", "", tool, arguments}, &spec));
  };
  EXPECT_EQ(json_string(members("file_read", R"({"op": "search", "path": "a"})"), "kind"), "search");
  const Json read = members("file_read", R"({"op": "read", "path": "bin/../lib"})");
  EXPECT_EQ(json_string(read, "kind"), "read");
  EXPECT_EQ(to_json_text(json_at(read, "locations")), R"([{"path":"/usr/lib"}])");
  EXPECT_EQ(to_json_text(json_at(members("file_read", R"({"path": "not/there"})"), "locations")), "[]");
  EXPECT_EQ(json_string(members("shell", R"({"argv": ["ls"]})"), "kind"), "execute");
  const Json own = members("weather", R"({"path": "/Paris"})");
  EXPECT_EQ(json_string(own, "kind"), "other");
  EXPECT_EQ(to_json_text(json_at(own, "locations")), "[]") << "a path of another tool need not be a file";
  EXPECT_EQ(to_json_text(json_at(members("shell", "{not json"), "rawInput")), R"({"text":"{not json"})");
}

}  // namespace
}  // namespace praxis::protocols

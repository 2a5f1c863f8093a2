#include "praxis/domain/message.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

constexpr Role kRoles[] = {Role::kSystem, Role::kDeveloper, Role::kUser, Role::kAssistant, Role::kTool};

/// A message with one part of every kind, each field set.
Message every_part() {
  const auto vendor =
      std::make_shared<const VendorState>(VendorState{"openai", "gpt", R"({"id":"rs_1","n":1.0})"});
  Message message;
  message.id = MessageId{"m7"};
  message.role = Role::kAssistant;
  message.created = {1'700'000'000'123};
  message.metadata = JsonObject{{"k", 1}};
  message.parts = {TextPart{"hi", vendor, {{"https://example.com", "Example", "hi"}}},
                   ReasoningPart{"because", "short", vendor},
                   ToolCallPart{CallId{"c1"}, "add", "{\"a\": 1}", false, vendor},
                   ToolResultPart{CallId{"c1"},
                                  "add",
                                  ToolStatus::kError,
                                  "bad",
                                  {ImagePart{{"image/png", std::string("\x89PNG\0", 5), {}}, nullptr}},
                                  {FilePart{{"text/plain", "bytes", {}}, "a.txt", nullptr}}},
                   ImagePart{{"image/png", {}, "https://example.com/a.png"}, vendor},
                   FilePart{{"text/plain", "bytes", {}}, "a.txt", vendor},
                   RefusalPart{"no", vendor},
                   CompactionPart{"what was said", vendor},
                   OpaquePart{"web_search_call", vendor}};
  return message;
}

TEST(Message, EveryPart_SurvivesJson) {
  const Json json = to_json(every_part());
  const auto back = message_from_json(json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), json);
  EXPECT_EQ(back->parts.size(), every_part().parts.size());
  EXPECT_EQ(std::get<TextPart>(back->parts[0]).vendor->raw, R"({"id":"rs_1","n":1.0})");
  EXPECT_EQ(std::get<ToolResultPart>(back->parts[3]).images[0].source.data, std::string("\x89PNG\0", 5));
}

TEST(Message, VendorStateOtherThanAnObject_IsDropped) {
  const auto keeps = [](std::string_view raw) {
    const auto part = part_from_json(JsonObject{
        {"type", "text"}, {"text", "x"}, {"vendor", {{"vendor", "v"}, {"model", "m"}, {"raw", raw}}}});
    return std::get<TextPart>(part.value()).vendor != nullptr;
  };
  EXPECT_TRUE(keeps(R"({"id":"x"})"));
  EXPECT_FALSE(keeps(""));
  EXPECT_FALSE(keeps(R"({"id":)"));
  EXPECT_FALSE(keeps("7"));
}

TEST(Message, TextContent_IsOnePart) {
  const auto message = message_from_json(JsonObject{{"role", "user"}, {"content", "hello"}});
  ASSERT_TRUE(message);
  EXPECT_EQ(message->text(), "hello");
}

TEST(Message, InvalidJson_IsRefusedWithTheReason) {
  const auto error = [](const Json& json) { return message_from_json(json).error().message; };
  EXPECT_EQ(error(JsonObject{{"role", "robot"}, {"content", "x"}}), "message: unknown role \"robot\"");
  EXPECT_EQ(error(JsonObject{{"role", "user"}}), "message: \"content\" must be text or an array of parts");
  EXPECT_EQ(error(JsonObject{{"role", "user"}, {"content", JsonArray{JsonObject{{"type", "smell"}}}}}),
            "message part: unknown type \"smell\"");
  EXPECT_EQ(error(JsonObject{{"role", "user"}, {"content", JsonArray{JsonObject{{"type", "image"}}}}}),
            "image part: needs exactly one of \"data\" and \"url\"");
}

TEST(Role, Roles_MapBetweenVocabulariesWithoutLoss) {
  for (const RoleVocabulary vocabulary : {RoleVocabulary::kFourRoles, RoleVocabulary::kThreeRoles}) {
    for (const Role role : kRoles) {
      EXPECT_EQ(role_from_view(role_view(role, vocabulary), vocabulary), role) << to_string(role);
    }
  }
  EXPECT_EQ(role_view(Role::kTool, RoleVocabulary::kThreeRoles).role, "user");
  EXPECT_EQ(role_view(Role::kSystem, RoleVocabulary::kThreeRoles).role, "developer");
  EXPECT_EQ(role_view(Role::kDeveloper, RoleVocabulary::kFourRoles).role, "system");
}

TEST(Role, Names_RoundTrip) {
  for (const Role role : kRoles) EXPECT_EQ(role_from(to_string(role)), role);
  EXPECT_EQ(role_from("User"), std::nullopt);
}

TEST(Conversation, SurvivesJson) {
  const Conversation conversation{
      "c", {text_message(Role::kUser, "a"), every_part()}, JsonObject{{"x", true}}};
  const auto back = conversation_from_json(to_json(conversation));
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json(*back), to_json(conversation));
}

}  // namespace
}  // namespace praxis

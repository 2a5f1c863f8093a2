#include "models/wire/chat/dialect.hpp"

#include <gtest/gtest.h>

#include "models/codec.hpp"

namespace praxis::wire::chat {
namespace {

TEST(ChatDialect, Defaults_FitAPlainServer) {
  const Dialect dialect = read_dialect(nullptr).value();
  EXPECT_EQ(dialect.path, "/chat/completions");
  EXPECT_EQ(dialect.instruction_role, "system");
  EXPECT_EQ(dialect.max_tokens_field, "max_tokens");
  EXPECT_EQ(dialect.reasoning_echo, ReasoningEcho::kNever);
}

TEST(ChatDialect, EnumerationFlags_AreParsed) {
  const Dialect dialect = read_dialect(JsonObject{{"effort_field", "reasoning"},
                                                  {"thinking_switch", "enable_thinking"},
                                                  {"reasoning_echo", "tool_turns"},
                                                  {"schema_format", "json_object"},
                                                  {"call_ids", "mistral9"},
                                                  {"stop", false},
                                                  {"request", JsonObject{{"seed", 1}}}})
                              .value();
  EXPECT_EQ(dialect.effort_field, EffortField::kReasoning);
  EXPECT_EQ(dialect.thinking_switch, ThinkingSwitch::kEnableThinking);
  EXPECT_EQ(dialect.reasoning_echo, ReasoningEcho::kToolTurns);
  EXPECT_EQ(dialect.schema_format, SchemaFormat::kJsonObject);
  EXPECT_EQ(dialect.call_ids, CallIds::kMistral9);
  EXPECT_FALSE(dialect.stop);
  EXPECT_EQ(dialect.request, (JsonObject{{"seed", 1}}));
}

TEST(ChatDialect, UnknownFlag_IsReported) {
  const std::vector<std::pair<Json, std::string>> cases{
      {JsonObject{{"instruction_roles", "system"}}, "instruction_role\""},
      {JsonObject{{"stop", "no"}}, "dialect.stop"},
      {JsonObject{{"path", 1}}, "dialect.path"},
      {JsonObject{{"request", 1}}, "dialect.request"},
      {JsonObject{{"reasoning_echo", "sometimes"}},
       R"("dialect.reasoning_echo" must be one of "never", "tool_turns", "always", "required", "details")"},
      {JsonArray{}, "dialect"},
  };
  for (const auto& [flags, told] : cases) {
    const auto dialect = read_dialect(flags);
    ASSERT_FALSE(dialect) << told;
    EXPECT_EQ(dialect.error().code, ErrorCode::kInput);
    EXPECT_TRUE(dialect.error().message.contains(told)) << dialect.error().message;
    EXPECT_FALSE(chat_codec({.provider = "p", .model = "m", .dialect = flags}));
  }
}

TEST(ChatDialect, Path_CanContainTheModel) {
  const auto path_of = [](const Json& flags) {
    return chat_codec({.provider = "p", .model = "gpt-x", .dialect = flags}).value()->path(true);
  };
  EXPECT_EQ(path_of(nullptr), "/chat/completions");
  EXPECT_EQ(path_of(JsonObject{{"path", "/deployments/{model}/chat/completions?api-version=1"}}),
            "/deployments/gpt-x/chat/completions?api-version=1");
}

}  // namespace
}  // namespace praxis::wire::chat

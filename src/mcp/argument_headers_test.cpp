// Which declarations of headers in input schemas count, and how values are written.
#include "mcp/argument_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Json schema_of(std::string_view properties) {
  return parse_json(R"({"type": "object", "properties": )" + std::string(properties) + "}").value();
}

TEST(ArgumentHeaders, AreThoseOfPropertiesAtAnyDepth) {
  const auto wanted = mcp_header_arguments(schema_of(
      R"({"a": {"type": "string", "x-mcp-header": "A"}, "plain": {"type": "string"},
          "b": {"type": "object", "properties": {"c": {"type": "boolean", "x-mcp-header": "C"}}}})"));
  ASSERT_TRUE(wanted) << wanted.error().message;
  const JsonObject arguments{{"a", "Grüße"}, {"plain", "x"}, {"b", JsonObject{{"c", false}}}};
  EXPECT_THAT(mcp_argument_headers(*wanted, arguments),
              ElementsAre(Pair("Mcp-Param-A", "=?base64?R3LDvMOfZQ==?="), Pair("Mcp-Param-C", "false")));
  EXPECT_TRUE(mcp_argument_headers(*wanted, JsonObject{{"a", nullptr}, {"b", 3}}).empty());
}

TEST(ArgumentHeaders, InvalidDeclaration_IsAnError) {
  const auto refused = [](std::string_view properties) {
    const auto wanted = mcp_header_arguments(schema_of(properties));
    return wanted ? "accepted" : wanted.error().message;
  };
  for (const char* name : {R"("")", R"("My Name")", R"("A:B")", R"("Ré")", R"("A\r\nHost: x")", "7"})
    EXPECT_THAT(refused(R"({"a": {"type": "string", "x-mcp-header": )" + std::string(name) + "}}"),
                HasSubstr("name of the header is not valid"));
  for (const char* type : {"number", "object", "array", "null"})
    EXPECT_THAT(refused(R"({"a": {"x-mcp-header": "A", "type": ")" + std::string(type) + "\"}}"),
                HasSubstr("is not a string, an integer or a boolean"));
  EXPECT_THAT(refused(R"({"a": {"type": "string", "x-mcp-header": "A"},
                          "b": {"type": "string", "x-mcp-header": "a"}})"),
              HasSubstr("declared twice"));
  EXPECT_THAT(refused(R"({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}})"),
              HasSubstr("not declared at a property"));
  EXPECT_THAT(refused(R"({"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}})"),
              HasSubstr("not declared at a property"));
}

TEST(ArgumentHeaders, PropertyOfThatName_AndData_DeclareNothing) {
  const auto wanted = mcp_header_arguments(
      schema_of(R"({"x-mcp-header": {"type": "string"}, "a": {"const": {"x-mcp-header": ""}}})"));
  ASSERT_TRUE(wanted) << wanted.error().message;
  EXPECT_TRUE(wanted->empty());
}

TEST(ArgumentHeaders, ValueThatIsNotPlain_IsInBase64) {
  for (const char* plain : {"", "us west 1", "x"}) EXPECT_EQ(mcp_header_value(plain), plain);
  for (const char* other : {" x", "x ", "a\r\nb", "\tx", "ä", "=?base64?x?="})
    EXPECT_THAT(mcp_header_value(other), ::testing::StartsWith("=?base64?")) << other;
}

}  // namespace
}  // namespace praxis

#include "praxis/tools/tool.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "praxis/tools/typed_tool.hpp"
#include "tools/testing/call.hpp"

namespace praxis {
namespace {

struct Place {
  std::string name;
  std::optional<std::int64_t> zoom;
};
PRAXIS_FIELDS(Place, name, zoom)

Tool echo(std::string name) {
  return make_tool(std::move(name), "", [](Place place) { return place.name; });
}

TEST(ToolSet, Add_RefusesDuplicateNamesAndInvalidDefinitions) {
  ToolSet set;
  EXPECT_TRUE(set.add(echo("map")));
  EXPECT_EQ(set.add(echo("map")).error().code, ErrorCode::kInput);
  EXPECT_FALSE(set.add(echo("white space")));
  Tool no_handler = echo("silent");
  no_handler.handler = nullptr;
  EXPECT_FALSE(set.add(no_handler));
  Tool bad_schema = echo("bad");
  bad_schema.definition.parameters.at("properties").at("name").get_object()["type"] = 7;
  EXPECT_NE(set.add(bad_schema).error().message.find("\"bad\""), std::string::npos);
  EXPECT_EQ(set.tools().size(), 1U);
  EXPECT_EQ(set.definitions()->size(), 1U);
}

TEST(ToolSet, Definitions_KeepTheirOrderAndEarlierListsAreUnchanged) {
  ToolSet set;
  EXPECT_TRUE(set.add(echo("zebra")));
  const auto before = set.definitions();
  EXPECT_TRUE(set.add(echo("ant")));
  EXPECT_EQ(before->size(), 1U);
  EXPECT_EQ(set.definitions()->at(0).name, "zebra");
  EXPECT_EQ(set.definitions()->at(1).name, "ant");
  EXPECT_EQ(set.find("ant"), &set.tools()[1]);
  EXPECT_EQ(set.find("bee"), nullptr);
}

TEST(ToolSet, UnknownTool_IsAnsweredWithTheNearestNameOrAllOfThem) {
  ToolSet set;
  ASSERT_TRUE(set.add(echo("get_weather")));
  ASSERT_TRUE(set.add(echo("map")));
  auto error = set.arguments("get_wether", "{}").error();
  EXPECT_EQ(error.code, ErrorCode::kTool);
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error.message, R"(unknown tool "get_wether"; did you mean "get_weather"?)");
  EXPECT_EQ(set.arguments("shell", "{}").error().message,
            R"(unknown tool "shell"; the tools are: get_weather, map)");
}

TEST(ToolSet, InvalidArguments_NameEachPath) {
  ToolSet set;
  ASSERT_TRUE(set.add(echo("map")));
  auto error = set.arguments("map", R"({"name":5,"zoom":"near"})").error();
  EXPECT_EQ(error.kind(), ErrorKind::kInvalidArguments);
  EXPECT_NE(error.message.find("/name "), std::string::npos) << error.message;
  EXPECT_NE(error.message.find("/zoom "), std::string::npos) << error.message;
  const std::string misspelt = set.arguments("map", R"({"name":"a","zoon":3})").error().message;
  EXPECT_NE(misspelt.find("did you mean"), std::string::npos) << misspelt;
  EXPECT_NE(set.arguments("map", R"({"name")").error().message.find("line 1"), std::string::npos);
}

TEST(ToolSet, RepeatedKey_IsAnErrorThatNamesIt) {
  ToolSet set;
  ASSERT_TRUE(set.add(echo("map")));
  const auto message = [&](std::string_view text) { return set.arguments("map", text).error().message; };
  EXPECT_EQ(message(R"({"name":"a","na\u006de":"b"})"),
            "invalid arguments for \"map\": the key \"name\" occurs more than once in one object; send each "
            "key once");
  EXPECT_NE(message(R"({"name":"a","name":"b:c"})"), "") << "with colons in the text";
  EXPECT_TRUE(set.arguments("map", R"({"name":"a:b:c"})"));
}

TEST(ToolSet, BlankArguments_MeanAnEmptyObject) {
  const Tool ping = make_tool("ping", "", [] { return "pong"; });
  for (std::string_view text : {"", " \n", "null", " null ", "{}"})
    EXPECT_EQ(text_of(call(ping, text)), "pong");
  EXPECT_FALSE(call(ping, "nullx"));
}

TEST(ToolSet, Execute_TurnsExceptionsIntoErrorsAndRepairsText) {
  const Tool throws =
      make_tool("throws", "", []() -> std::string { throw std::runtime_error("disk on fire"); });
  auto error = call(throws, "").error();
  EXPECT_EQ(error.code, ErrorCode::kTool);
  EXPECT_EQ(error.message, R"(tool "throws" failed: disk on fire)");
  EXPECT_EQ(call(make_tool("odd", "", []() -> std::string { throw 7; }), "").error().code, ErrorCode::kTool);
  EXPECT_EQ(text_of(call(make_tool("bytes", "",
                                   [] {
                                     return "a\xff"
                                            "b";
                                   }),
                         "")),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(ToolSet, Execute_RunsNoHandlerOnInvalidArguments) {
  bool ran = false;
  const Tool tool = make_tool("map", "", [&ran](Place) { return ran = true; });
  EXPECT_FALSE(call(tool, R"({"name":"a","extra":1})"));
  EXPECT_FALSE(ran);
  EXPECT_TRUE(call(tool, R"({"name":"a"})"));
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace praxis

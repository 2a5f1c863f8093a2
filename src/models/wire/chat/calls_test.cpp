#include "models/wire/chat/calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "praxis/json/json.hpp"

namespace praxis::wire::chat {
namespace {

const CodecTarget kCallsTarget{.provider = "p", .model = "m"};

/// The result of assembling elements of `tool_calls` in order: `id=name(arguments)state`.
std::string assembled(const std::vector<std::string>& fragments, CallIds format = CallIds::kShort) {
  AnswerBuilder builder(kCallsTarget, {.deltas = nullptr, .call_prefix = "new_", .call_taken = {}});
  CallAssembler assembler(builder, format);
  for (const std::string& fragment : fragments) {
    const Json json = parse_json(fragment).value();
    if (const auto call = read_call(json)) assembler.add(*call, false);
  }
  assembler.finish();
  std::string out;
  for (const Part& part : builder.response.parts) {
    const auto& call = std::get<ToolCallPart>(part);
    out += call.id.value + '=' + call.name + '(' + call.arguments + ')' +
           (call.vendor ? call.vendor->raw : std::string()) + ' ';
  }
  return out;
}

TEST(ChatCalls, WrappedCalls_AreUnwrapped) {
  const std::string wrapped =
      R"({\"tool_uses\":[{\"recipient_name\":\"functions.f\",\"parameters\":{\"a\":1}},)"
      R"({\"recipient_name\":\"g\",\"parameters\":{}}]})";
  const auto call = [](std::string_view name, std::string_view arguments) -> std::vector<std::string> {
    return {R"({"index":0,"id":"c","function":{"name":")" + std::string(name) + R"(","arguments":""}})",
            R"({"index":0,"function":{"arguments":")" + std::string(arguments) + R"("}})"};
  };
  EXPECT_EQ(assembled(call("multi_tool_use.parallel", wrapped)), R"(c=f({"a":1}) new_2=g({}) )");
  EXPECT_EQ(assembled(call("parallel", "{}")), "c=parallel({}) ") << "a tool of that name";
  EXPECT_EQ(assembled(call("multi_tool_use.parallel", "{")), "c=multi_tool_use.parallel({) ");
}

TEST(ChatCalls, VendorStateOfACall_IsKept) {
  EXPECT_EQ(assembled({R"({"id":"a","function":{"name":"f"},"extra_content":{"s":1}})",
                       R"({"id":"b","function":{"name":"f"}})"}),
            R"(a=f(){"extra_content":{"s":1}} b=f() )");
  const std::string name = R"("function":{"name":"f"})";
  EXPECT_EQ(assembled({R"({"id":"abc",)" + name + "}"}, CallIds::kMistral9), R"(abc=f(){"id":"abc"} )");
  EXPECT_EQ(assembled({R"({"id":"Ab3Ab3Ab3",)" + name + "}"}, CallIds::kMistral9), "Ab3Ab3Ab3=f() ");
  EXPECT_EQ(assembled({R"({"id":"",)" + name + "}"}, CallIds::kMistral9), "new_1=f() ") << "an id of our own";
}

TEST(ChatCalls, Ids_GetTheRequiredFormat) {
  const std::string most(40, 'x'), more(41, 'x');
  EXPECT_EQ(wire_id(most, CallIds::kShort), most);
  EXPECT_EQ(wire_id(more, CallIds::kShort).size(), 37U);
  EXPECT_EQ(wire_id(more, CallIds::kShort), wire_id(more, CallIds::kShort));
  EXPECT_EQ(wire_id("Ab3Ab3Ab3", CallIds::kMistral9), "Ab3Ab3Ab3");
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = wire_id("call_" + std::to_string(i), CallIds::kMistral9);
    EXPECT_EQ(id.size(), 9U);
    EXPECT_TRUE(std::ranges::all_of(id, [](unsigned char c) { return std::isalnum(c) != 0; })) << id;
    seen.insert(id);
  }
  EXPECT_EQ(seen.size(), 1000U);
}

}  // namespace
}  // namespace praxis::wire::chat

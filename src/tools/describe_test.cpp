#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "praxis/tools/typed_tool.hpp"
#include "tools/testing/call.hpp"

namespace weather {

enum class Unit { kCelsius, kDegreesFahrenheit };
PRAXIS_ENUM(Unit, kCelsius, kDegreesFahrenheit)

struct City {
  praxis::arg<std::string, "City, e.g. Paris"> name;
  std::optional<Unit> unit;
};
PRAXIS_FIELDS(City, name, unit)

struct Reading {
  double degrees = 0;
  Unit unit = Unit::kCelsius;
  bool operator==(const Reading&) const = default;
};
PRAXIS_FIELDS(Reading, degrees, unit)

struct Report {
  std::vector<Reading> readings;
  std::map<std::string, std::int32_t> counts;
  praxis::arg<std::uint16_t, "Days"> days = 7;
  std::optional<std::string> note;
  bool final = false;
  praxis::Json extra;
};
PRAXIS_FIELDS(Report, readings, counts, days, note, final, extra)

struct Node {
  std::string name;
  std::vector<Node> children;
};
PRAXIS_FIELDS(Node, name, children)

struct Forest {
  std::map<std::string, Node> trees;
};
PRAXIS_FIELDS(Forest, trees)

Reading get_weather(City city) {
  return {city.name == "Rome" ? 6.0 : 0.0, city.unit.value_or(Unit::kCelsius)};
}
std::string who_asks(praxis::ToolContext& context) { return "agent " + context.agent; }
praxis::Result<std::string> look_up(praxis::ToolContext& context, const City& city) noexcept {
  if (city.name == "Atlantis") return praxis::fail(praxis::ErrorCode::kTool, "no such city");
  return city.name + " for " + context.agent;
}

}  // namespace weather

namespace praxis {
namespace {

std::string ping() { return "pong"; }

TEST(Describe, SchemaOf_ListsMembersDescriptionsAndRequired) {
  EXPECT_EQ(to_json_text(schema_of<weather::City>()),
            R"({"type":"object","properties":{"name":{"type":"string","description":"City, e.g. Paris"},)"
            R"("unit":{"type":"string","enum":["celsius","degrees_fahrenheit"]}},)"
            R"("required":["name"],"additionalProperties":false})");
}

TEST(Describe, SchemaOf_NestsContainersAndReferencesRecursiveTypes) {
  EXPECT_EQ(
      to_json_text(schema_of<weather::Forest>()),
      R"({"type":"object","properties":{"trees":{"type":"object","additionalProperties":{"type":"object",)"
      R"("properties":{"name":{"type":"string"},"children":{"type":"array","items":)"
      R"({"$ref":"#/properties/trees/additionalProperties"}}},"required":["name","children"],)"
      R"("additionalProperties":false}}},"required":["trees"],"additionalProperties":false})");
  EXPECT_EQ(to_json_text(schema_of<NoArguments>()),
            R"({"type":"object","properties":{},"additionalProperties":false})");
  auto schema = JsonSchema::compile(schema_of<weather::Forest>());
  ASSERT_TRUE(schema) << schema.error().message;
  const auto deep = *parse_json(R"({"trees":{"oak":{"name":"a","children":[{"name":1,"children":[]}]}}})");
  ASSERT_EQ(schema->validate(deep).size(), 1U);
  EXPECT_EQ(schema->validate(deep)[0].path, "/trees/oak/children/0/name");
}

TEST(Describe, FromJsonAs_InvertsToJsonValue) {
  weather::Report report;
  report.readings = {{21.5, weather::Unit::kCelsius}, {70, weather::Unit::kDegreesFahrenheit}};
  report.counts = {{"a", -1}, {"b", 2}};
  report.extra = {{"any", {1, nullptr}}};
  const Json json = to_json_value(report);
  EXPECT_EQ(to_json_text(json),
            R"({"readings":[{"degrees":21.5,"unit":"celsius"},{"degrees":70,"unit":"degrees_fahrenheit"}],)"
            R"("counts":{"a":-1,"b":2},"days":7,"final":false,"extra":{"any":[1,null]}})");
  auto back = from_json_as<weather::Report>(json);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->readings, report.readings);
  EXPECT_EQ(back->counts, report.counts);
  EXPECT_EQ(back->days, 7);
  EXPECT_EQ(to_json_value(*back), json);
  EXPECT_TRUE(JsonSchema::compile(schema_of<weather::Report>())->validate(json).empty());
}

TEST(Describe, FromJsonAs_ReportsThePathOfAnInvalidValue) {
  const auto message = [](std::string_view changed) {
    auto json = parse_json(R"({"readings":[],"counts":{},"days":7,"final":true,"extra":null})");
    const auto changes = parse_json(changed);
    for (const auto& [key, value] : changes->get_object()) json->get_object()[key] = value;
    return from_json_as<weather::Report>(*json).error().message;
  };
  EXPECT_EQ(message(R"({"readings":[{"degrees":1,"unit":"celsius"},{"degrees":"x","unit":"celsius"}]})"),
            "/readings/1/degrees must be a number");
  EXPECT_EQ(message(R"({"readings":[{"degrees":1,"unit":"celcius"}]})"),
            R"(/readings/0/unit must be one of "celsius", "degrees_fahrenheit"; did you mean "celsius"?)");
  EXPECT_EQ(message(R"({"readings":[{"degrees":1}]})"), "/readings/0/unit is missing");
  EXPECT_EQ(message(R"({"days":65536})"), "/days must be an integer from 0 to 65535");
  EXPECT_EQ(message(R"({"days":1.5})"), "/days must be an integer from 0 to 65535");
  EXPECT_EQ(message(R"({"days":-1})"), "/days must be an integer from 0 to 65535");
  EXPECT_EQ(message(R"({"days":1e300})"), "/days must be an integer from 0 to 65535");
  EXPECT_EQ(message(R"({"counts":{"a":true}})"),
            "/counts/a must be an integer from -2147483648 to 2147483647");
  EXPECT_EQ(message(R"({"note":5})"), "/note must be a string");
  EXPECT_EQ(message(R"({"final":"yes"})"), "/final must be true or false");
  EXPECT_EQ(from_json_as<weather::City>(Json(3)).error().message, "the value must be an object");
}

TEST(Describe, FromJsonAs_AcceptsNullForAnOptionalAndIntegralDoubles) {
  auto city = from_json_as<weather::City>(*parse_json(R"({"name":"Rome","unit":null})"));
  ASSERT_TRUE(city);
  EXPECT_FALSE(city->unit);
  EXPECT_EQ(*from_json_as<std::vector<std::uint8_t>>(*parse_json("[3.0, 255]")),
            (std::vector<std::uint8_t>{3, 255}));
}

TEST(TypedTool, Tool_TakesItsNameFromTheFunctionAndItsSchemaFromTheStruct) {
  const Tool made = tool<weather::get_weather>("Current weather");
  EXPECT_EQ(made.definition.name, "get_weather");
  EXPECT_EQ(made.definition.description, "Current weather");
  EXPECT_EQ(made.definition.parameters, schema_of<weather::City>());
  EXPECT_EQ(tool<ping>("").definition.name, "ping");
  EXPECT_EQ(tool<&weather::look_up>("").definition.name, "look_up");
}

TEST(TypedTool, Handler_TakesContextOrStructOrBothOrNothing) {
  EXPECT_EQ(text_of(call(tool<ping>(""), "")), "pong");
  EXPECT_EQ(text_of(call(tool<weather::who_asks>(""), "{}")), "agent ");
  EXPECT_EQ(text_of(call(tool<weather::look_up>(""), R"({"name":"Rome"})")), "Rome for ");
  EXPECT_EQ(text_of(call(tool<weather::look_up>(""), R"({"name":"Atlantis"})")), "error: no such city");
}

TEST(TypedTool, DescribedResult_IsReturnedAsTextAndValue) {
  auto output = call(tool<weather::get_weather>(""), R"({"name":"Rome","unit":"degrees_fahrenheit"})");
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->text, R"({"degrees":6,"unit":"degrees_fahrenheit"})");
  EXPECT_EQ(output->value.at("unit"), "degrees_fahrenheit");
}

TEST(TypedTool, MakeTool_WrapsALambdaWithItsCaptures) {
  const Tool made =
      make_tool("add", "Adds", [base = 10](weather::Reading reading) { return reading.degrees + base; });
  EXPECT_EQ(text_of(call(made, R"({"degrees":2.5,"unit":"celsius"})")), "12.5");
  const Tool whole =
      make_tool("whole", "", [] { return Result<ToolOutput>(ToolOutput{"x", {{"y", 1}}, {}, {}}); });
  EXPECT_EQ(call(whole, "")->value.at("y"), 1);
}

std::string forecast(const std::string& city, int days) { return city + " " + std::to_string(days); }

TEST(PlainTool, Parameters_BecomeTheSchema) {
  const Tool made =
      make_tool("forecast", "Weather to come",
                [](arg<std::string, "City, e.g. Paris"> city, int days, std::optional<bool> hourly) {
                  return city + (hourly ? " hourly" : "") + std::to_string(days);
                },
                {"city", "days", "hourly"});
  EXPECT_EQ(to_json_text(made.definition.parameters),
            R"({"type":"object","properties":{"city":{"type":"string","description":"City, e.g. Paris"},)"
            R"("days":{"type":"integer"},"hourly":{"type":"boolean"}},"additionalProperties":false,)"
            R"("required":["city","days"]})");
}

TEST(PlainTool, Arguments_ReachTheFunctionByName) {
  ToolContext context;
  const Tool made = tool<forecast>("Weather to come", {"city", "days"});
  EXPECT_EQ(made.definition.name, "forecast");
  const auto output = made.handler(context, JsonObject{{"days", 3}, {"city", "Rome"}});
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->text, "Rome 3");
}

TEST(PlainTool, OptionalParameter_MayBeLeftOut) {
  ToolContext context;
  context.agent = "lead";
  const Tool made = make_tool(
      "who", "", [](ToolContext& caller, std::optional<int> n) { return caller.agent + (n ? "!" : ""); },
      {"n"});
  EXPECT_EQ(made.handler(context, JsonObject{})->text, "lead");
  EXPECT_EQ(made.handler(context, JsonObject{{"n", 1}})->text, "lead!");
}

TEST(PlainTool, MissingOrMisfitArgument_IsNamed) {
  ToolContext context;
  const Tool made = tool<forecast>("Weather to come", {"city", "days"});
  EXPECT_EQ(made.handler(context, JsonObject{{"city", "Rome"}}).error().message, "/days is missing");
  const auto misfit = made.handler(context, JsonObject{{"city", 5}, {"days", 1}});
  ASSERT_FALSE(misfit);
  EXPECT_THAT(misfit.error().message, ::testing::StartsWith("/city "));
}

}  // namespace
}  // namespace praxis

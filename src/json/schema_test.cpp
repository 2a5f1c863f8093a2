#include "praxis/json/schema.hpp"

#include <gtest/gtest.h>

#include "praxis/json/json.hpp"

namespace praxis {
namespace {

Json schema_json(std::string_view text) {
  auto json = parse_json(text);
  if (!json) ADD_FAILURE() << text << ": " << json.error().message;
  return json.value_or(nullptr);
}

// Returns all problems, one a line, as "path: message".
std::string problems(std::string_view schema_text, std::string_view instance, std::size_t max_problems = 16) {
  const auto schema = JsonSchema::compile(schema_json(schema_text));
  if (!schema) return schema.error().message;
  std::string out;
  for (const auto& [path, message] : schema->validate(schema_json(instance), max_problems)) {
    out += (out.empty() ? "" : "\n") + path + ": " + message;
  }
  return out;
}

TEST(JsonSchema, MessagesSayWhereAndWhatIsWrong) {
  const std::string_view schema = R"({
    "type": "object", "required": ["name"], "additionalProperties": false,
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 3},
      "unit": {"enum": ["C", "F"]},
      "kind": {"const": "weather"},
      "cities": {"type": "array", "maxItems": 2, "uniqueItems": true, "items": {
        "type": "object", "properties": {"name": {"type": ["string", "null"]}}}},
      "days": {"type": "integer", "minimum": 1, "maximum": 14},
      "part": {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
      "step": {"multipleOf": 0.25},
      "code": {"pattern": "^[a-z]+$"},
      "a/b~c": {"type": "null"}
    }})";
  EXPECT_EQ(problems(schema, R"({"name":"x","days":3.0,"step":0.75,"unit":"C","cities":[{"name":null}]})"),
            "");
  EXPECT_EQ(problems(schema, "3"), ": expected object, got number 3");
  EXPECT_EQ(problems(schema, "{}"), R"(: missing required property "name")");
  EXPECT_EQ(problems(schema, R"({"name":"x","dyas":3})"),
            R"(: unknown property "dyas" (did you mean "days"?))");
  EXPECT_EQ(problems(schema, R"({"name":"x","zzz":3})"), R"(: unknown property "zzz")");
  EXPECT_EQ(problems(schema, R"({"name":5})"), "/name: expected string, got number 5");
  EXPECT_EQ(problems(schema, R"({"name":""})"), "/name: must have at least 1 character, has 0");
  EXPECT_EQ(problems(schema, R"({"name":"é€😀x"})"), "/name: must have at most 3 characters, has 4");
  EXPECT_EQ(problems(schema, R"({"name":"é€😀"})"), "");
  EXPECT_EQ(problems(schema, R"({"name":"x","unit":"K"})"), R"(/unit: must be one of "C", "F")");
  EXPECT_EQ(problems(schema, R"({"name":"x","kind":1})"), R"(/kind: must be "weather")");
  EXPECT_EQ(problems(schema, R"({"name":"x","cities":[{"name":1},{"name":2}]})"),
            "/cities/0/name: expected null or string, got number 1\n"
            "/cities/1/name: expected null or string, got number 2");
  EXPECT_EQ(problems(schema, R"({"name":"x","cities":[{"x":1,"y":2},{"y":2.0,"x":1}]})"),
            "/cities: items must differ, but 0 and 1 are equal");
  EXPECT_EQ(problems(schema, R"({"name":"x","days":0})"), "/days: must be at least 1, got 0");
  EXPECT_EQ(problems(schema, R"({"name":"x","days":2.5})"), "/days: expected integer, got number 2.5");
  EXPECT_EQ(problems(schema, R"({"name":"x","part":1})"), "/part: must be less than 1, got 1");
  EXPECT_EQ(problems(schema, R"({"name":"x","step":0.3})"), "/step: must be a multiple of 0.25, got 0.3");
  EXPECT_EQ(problems(schema, R"({"name":"x","code":"A1"})"), "/code: must match the pattern ^[a-z]+$");
  EXPECT_EQ(problems(schema, R"({"name":"x","a/b~c":true})"), "/a~1b~0c: expected null, got boolean true");
}

TEST(JsonSchema, MessagesQuoteNoStringOfTheValue) {
  EXPECT_EQ(problems(R"({"type":"integer"})", R"("hunter2")"), ": expected integer, got string");
  EXPECT_EQ(problems(R"({"enum":["a"]})", R"("hunter2")").find("hunter2"), std::string::npos);
  EXPECT_EQ(problems(R"({"pattern":"^x"})", R"("hunter2")").find("hunter2"), std::string::npos);
}

TEST(JsonSchema, FailedAlternatives_AreExplainedOneByOne) {
  const std::string_view schema = R"({"properties":{"v":{"anyOf":[
    {"type":"string"}, {"type":"object","properties":{"id":{"type":"integer"}}}]}}})";
  EXPECT_EQ(problems(schema, R"({"v":{"id":1}})"), "");
  EXPECT_EQ(problems(schema, R"({"v":{"id":true}})"),
            "/v: fits none of the alternatives: expected string, got object; or /id: expected integer, got "
            "boolean true");
  EXPECT_EQ(problems(R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "3"),
            ": fits more than one of the alternatives; must fit exactly one");
  EXPECT_EQ(problems(R"({"not":{"type":"null"}})", "null"), ": fits what the schema's \"not\" rules out");
}

TEST(JsonSchema, KeywordsOfObjectsAndArrays_HaveClearMessages) {
  EXPECT_EQ(problems(R"({"propertyNames":{"maxLength":2}})", R"({"abc":1})"),
            R"(: property name "abc": must have at most 2 characters, has 3)");
  EXPECT_EQ(problems(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"),
            R"(: missing property "b", required when "a" is present)");
  EXPECT_EQ(problems(R"({"contains":{"type":"string"}})", "[1]"),
            ": must have at least 1 matching item, has 0");
  EXPECT_EQ(problems(R"({"minProperties":2})", R"({"a":1})"), ": must have at least 2 properties, has 1");
  EXPECT_EQ(
      problems(
          R"({"properties":{"name":{}},"allOf":[{"properties":{"x":{}}}],"unevaluatedProperties":false})",
          R"({"x":1,"nme":2})"),
      R"(: unknown property "nme" (did you mean "name"?))");
  EXPECT_EQ(problems(R"({"prefixItems":[{}],"unevaluatedItems":false})", "[1,2]"),
            "/1: nothing is allowed here");
}

TEST(JsonSchema, MultiplesAreJudgedAsDecimals) {
  EXPECT_EQ(problems(R"({"multipleOf":0.1})", "0.3"), "");
  EXPECT_EQ(problems(R"({"multipleOf":0.01})", "1.15"), "");
  EXPECT_EQ(problems(R"({"multipleOf":0.01})", "1.155"), ": must be a multiple of 0.01, got 1.155");
  EXPECT_EQ(problems(R"({"multipleOf":3})", "9007199254740993"), "");
  EXPECT_NE(problems(R"({"multipleOf":2})", "18446744073709551615"), "");
}

TEST(JsonSchema, LongMessages_AreShortened) {
  std::string schema = R"({"enum":[)";
  for (int i = 0; i < 1000; ++i) schema += "\"é" + std::to_string(i) + "\",";
  const std::string message = problems(schema + "0]}", "1");
  EXPECT_LT(message.size(), 300U);
  EXPECT_TRUE(message.ends_with("..."));
  EXPECT_TRUE(is_valid_utf8(message));
}

TEST(JsonSchema, Validation_StopsAtTheRequestedNumberOfProblems) {
  EXPECT_EQ(problems(R"({"items":{"type":"string"}})", "[1,2,3]", 2),
            "/0: expected string, got number 1\n/1: expected string, got number 2");
  EXPECT_NE(problems(R"({"type":"string"})", "1", 0), "");
}

TEST(JsonSchema, InvalidSchemas_AreRefusedWithTheLocation) {
  EXPECT_EQ(problems("3", "1"), "schema: expected a schema: an object, true or false");
  EXPECT_EQ(problems(R"({"properties":{"a":{"type":"strng"}}})", "1"),
            "schema at /properties/a/type: unknown type \"strng\" (did you mean \"string\"?)");
  EXPECT_EQ(problems(R"({"items":[{}]})", "1"),
            "schema at /items: expected a schema: an object, true or false");
  EXPECT_EQ(problems(R"({"required":"a"})", "1"), "schema at /required: expected an array");
  EXPECT_EQ(problems(R"({"required":[1]})", "1"), "schema at /required: expected an array of strings");
  EXPECT_EQ(problems(R"({"minLength":-1})", "1"), "schema at /minLength: expected an integer, 0 or more");
  EXPECT_EQ(problems(R"({"minimum":"1"})", "1"), "schema at /minimum: expected a number");
  EXPECT_EQ(problems(R"({"multipleOf":0})", "1"), "schema at /multipleOf: must be greater than 0");
  EXPECT_EQ(problems(R"({"allOf":[]})", "1"), "schema at /allOf: expected at least one schema");
  EXPECT_EQ(problems(R"({"uniqueItems":1})", "1"), "schema at /uniqueItems: expected true or false");
  EXPECT_EQ(problems(R"({"dependentRequired":{"a":1}})", "1"),
            "schema at /dependentRequired/a: expected an array");
  EXPECT_EQ(problems(R"s({"pattern":"(?=x)"})s", "1"),
            "schema at /pattern: pattern \"(?=x)\" cannot be used: invalid perl operator: (?= (patterns are "
            "RE2's: no "
            "look-around, no back-references)");
}

TEST(JsonSchema, UnicodeProperties_AreKnownByTheirLongNames) {
  const auto matches = [](const std::string& pattern, const std::string& text) {
    return problems(to_json_text(JsonObject{{"pattern", pattern}}), to_json_text(Json(text))).empty();
  };
  EXPECT_TRUE(matches(R"(\p{Letter}cole)", "Les hivers de mon enfance étaient à l'école"));
  EXPECT_FALSE(matches(R"(\p{Letter}cole)", "1cole"));
  EXPECT_TRUE(matches(R"(^[\p{Uppercase_Letter}\p{gc=Decimal_Number}]+$)", "ÄÖ7"));
  EXPECT_FALSE(matches(R"(^\P{General_Category=Letter}$)", "a"));
  EXPECT_TRUE(matches(R"(^\p{Script=Greek}\p{Lu}$)", "αΑ"));
  EXPECT_TRUE(matches(R"(^\p{digit}+$)", "42"));
  EXPECT_TRUE(matches(R"(^\\p\{Letter}$)", R"(\p{Letter})")) << "an escaped backslash begins no property";
  EXPECT_NE(problems(R"({"pattern":"\\p{Alphabetic}"})", "1").find("general categories, such as"),
            std::string::npos);
}

TEST(JsonSchema, References_ReachOnlyTheGivenDocuments) {
  EXPECT_EQ(problems(R"({"$ref":"https://example.com/s"})", "1"),
            "schema at /$ref: \"https://example.com/s\" is neither in the schema nor in the documents given "
            "with it");
  EXPECT_NE(problems(R"({"$ref":"#/$defs/none"})", "1"), "");
  const auto schema =
      JsonSchema::compile(schema_json(R"({"$ref":"https://example.com/s#/$defs/a"})"),
                          {{"https://example.com/s", schema_json(R"({"$defs":{"a":{"type":"null"}}})")}});
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->validate(1).size(), 1U);
  EXPECT_TRUE(schema->validate(nullptr).empty());
}

TEST(JsonSchema, RecursiveSchemasFollowTheInstance) {
  const std::string_view tree = R"({"type":"object","properties":{"children":{"items":{"$ref":"#"}}}})";
  EXPECT_EQ(problems(tree, R"({"children":[{"children":[]},{"children":[{}, 7]}]})"),
            "/children/1/children/1: expected object, got number 7");
}

TEST(JsonSchema, EndlessReferences_AreBounded) {
  EXPECT_EQ(problems(R"({"$ref":"#"})", "1"), ": too complex to be checked against this schema");
  EXPECT_NE(problems(R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", "1"), "");
  EXPECT_NE(problems(R"({"not":{"$ref":"#"}})", "1"), "");
  EXPECT_NE(
      problems(R"({"propertyNames":{"$ref":"#/$defs/a"},"$defs":{"a":{"$ref":"#/$defs/a"}}})", R"({"x":1})"),
      "");
}

// Each level doubles the work: 2^40 checks without the bound.
TEST(JsonSchema, MultiplyingAlternatives_AreBounded) {
  std::string schema = R"({"$ref":"#/$defs/s0","$defs":{"s40":{"type":"null"})";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/s)" + std::to_string(i + 1) + "\"}";
    schema += ",\"s" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]}";
  }
  EXPECT_EQ(problems(schema + "}}", "1"), ": too complex to be checked against this schema");
}

TEST(JsonSchema, Copies_OutliveTheOriginal) {
  std::optional<JsonSchema> copy;
  {
    const Json text = schema_json(R"({"properties":{"a":{"enum":["x"]}},"additionalProperties":false})");
    copy = JsonSchema::compile(text).value();
  }
  EXPECT_EQ(copy->validate(Json{{"a", "y"}, {"b", 1}}).size(), 2U);
}

}  // namespace
}  // namespace praxis

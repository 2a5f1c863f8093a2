#include "models/wire/gemini/tools.hpp"

#include <gtest/gtest.h>

#include "models/wire/gemini/arguments.hpp"

namespace praxis::wire::gemini {
namespace {

Json json(std::string_view text) { return parse_json(text).value(); }

TEST(GeminiToolName, InvalidName_GetsAnUnderscoreAndIsRestored) {
  for (const auto& [name, wire] : std::vector<std::pair<std::string, std::string>>{{"read_file", "read_file"},
                                                                                   {"_x", "_x"},
                                                                                   {"3d", "_3d"},
                                                                                   {"-v", "_-v"},
                                                                                   {"_3d", "__3d"},
                                                                                   {"___", "___"}}) {
    EXPECT_EQ(wire_name(name), wire);
    EXPECT_EQ(tool_name(wire), name);
  }
}

TEST(GeminiSchema, OnlyTheConstKeyword_IsReplaced) {
  EXPECT_EQ(
      wire_schema(json(R"({"type":"object","properties":{"const":{"const":1},"b":{"items":{"const":"x"}}},
                           "anyOf":[{"const":null}],"default":{"const":2},"additionalProperties":false})")),
      json(R"({"type":"object","properties":{"const":{"enum":[1]},"b":{"items":{"enum":["x"]}}},
               "anyOf":[{"enum":[null]}],"default":{"const":2},"additionalProperties":false})"));
}

TEST(GeminiSchema, SchemaForOlderModels_IsASubsetOfOpenApi) {
  struct Row {
    std::string schema, expected;
  };
  for (
      const Row& row : {
          Row{R"({"type":["string","null"],"format":"uri","maxLength":9})",
              R"({"type":"STRING","nullable":true,"maxLength":9})"},
          Row{R"({"type":["string","integer"]})", R"({"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]})"},
          Row{R"({"const":"a"})", R"({"type":"STRING","enum":["a"]})"},
          Row{R"({"type":"integer","enum":[1,2]})", R"({"type":"INTEGER"})"},
          Row{R"({"description":"D","anyOf":[{"type":"number"},{"type":"null"}]})",
              R"({"description":"D","nullable":true,"type":"NUMBER"})"},
          Row{R"({"allOf":[{"properties":{"a":{"type":"boolean"}}},{"properties":{"b":{"type":"string"}}}]})",
              R"({"type":"OBJECT","properties":{"a":{"type":"BOOLEAN"},"b":{"type":"STRING"}}})"},
          Row{R"({"items":{"$ref":"#/$defs/X"},"$schema":"s","$defs":{}})",
              R"({"type":"ARRAY","items":{"type":"OBJECT"}})"},
          Row{R"({"type":"object","properties":{"a":true},"required":["a"],"additionalProperties":false})",
              R"({"type":"OBJECT","properties":{"a":{"type":"OBJECT"}},"required":["a"]})"},
      }) {
    EXPECT_EQ(to_canonical_json(openapi_schema(json(row.schema))), to_canonical_json(json(row.expected)))
        << row.schema;
  }
}

TEST(GeminiDeclaration, ToolWithoutParameters_HasNoSchema) {
  const std::vector<ToolDefinition> tools{
      {.name = "now", .description = "Time", .parameters = json(R"({"type":"object","properties":{}})")},
      {.name = "add",
       .description = "Sum",
       .parameters = json(R"({"type":"object","properties":{"x":{}}})")}};
  EXPECT_EQ(Json(function_declarations(tools, {})), json(R"([{"name":"now","description":"Time"},
                     {"name":"add","description":"Sum",
                      "parametersJsonSchema":{"type":"object","properties":{"x":{}}}}])"));
  EXPECT_EQ(json_at(function_declarations(tools, {.json_schema = false})[1], "parameters"),
            json(R"({"type":"OBJECT","properties":{"x":{"type":"OBJECT"}}})"));
}

TEST(GeminiArguments, Values_ArePlacedByTheirPaths) {
  PartialArguments arguments(json(R"({"known":1})"));
  for (const std::string_view piece : {
           R"({"jsonPath":"$.a.b[0]","stringValue":"x"})",
           R"({"jsonPath":"$.a.b[0]","stringValue":"y"})",
           R"({"jsonPath":"$.a.b[1]","nullValue":"NULL_VALUE"})",
           R"({"jsonPath":"$['a key'][\"c.d\"]","boolValue":true})",
           R"({"jsonPath":"$.n","numberValue":-1.5,"novelty":0})",
       }) {
    EXPECT_TRUE(arguments.add(json(piece))) << piece;
  }
  EXPECT_EQ(arguments.text(), R"({"known":1,"a":{"b":["xy",null]},"a key":{"c.d":true},"n":-1.5})");
}

TEST(GeminiArguments, InvalidPath_IsRefused) {
  std::string deep = "$";
  for (int i = 0; i < 100; ++i) deep += ".a";
  for (const std::string& path :
       {std::string(), std::string("$"), std::string("a"), std::string("$."), std::string("$[x]"),
        std::string("$.list[1]"), std::string("$['a"), std::string("$.list[1000000000]"),
        std::string("$.text.more"), std::string("$[0]"), deep}) {
    PartialArguments arguments(json(R"({"list":[],"text":"t"})"));
    EXPECT_FALSE(arguments.add(JsonObject{{"jsonPath", path}, {"stringValue", "v"}})) << path;
  }
}

}  // namespace
}  // namespace praxis::wire::gemini

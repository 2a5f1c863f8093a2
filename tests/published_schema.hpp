// The published schema of `--json` (docs/json.md), against which tests check single lines.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "praxis/json/json.hpp"
#include "praxis/json/schema.hpp"

namespace praxis::testing {

class PublishedSchema {
 public:
  PublishedSchema() {
    std::ifstream file(PRAXIS_SOURCE_DIR "/share/praxis/output.schema.json");
    Json schema = parse_json(std::string{std::istreambuf_iterator<char>(file), {}}).value();
    make_strict(schema);
    for (const auto& [name, definition] : schema.at("$defs").get_object()) {
      Json whole = schema;
      whole.get_object().erase("oneOf");
      whole.get_object()["$ref"] = "#/$defs/" + std::string(name);
      schemas_.emplace(name, JsonSchema::compile(whole).value());
    }
  }

  void check(const Json& line, const std::string& where) const {
    const std::string event = json_string(line, "event"), item = json_string(line, "item");
    const std::string name = !item.empty() ? item : event == "result" ? "result" : "event";
    const auto schema = schemas_.find(name);
    ASSERT_NE(schema, schemas_.end()) << where << ": no schema for " << to_json_text(line);
    for (const SchemaProblem& problem : schema->second.validate(line))
      ADD_FAILURE() << where << ": " << problem.path << ' ' << problem.message << " in "
                    << to_json_text(line);
  }

 private:
  /// Forbids members that the schema does not list. Readers must ignore them, but we must not forget them.
  static void make_strict(Json& schema) {
    if (JsonArray* items = schema.if_array()) {
      for (Json& item : *items) make_strict(item);
    }
    JsonObject* members = schema.if_object();
    if (members == nullptr) return;
    for (auto& [key, value] : *members) make_strict(value);
    const bool lists_members = json_string(schema, "type") == "object" && members->contains("properties");
    if (lists_members && !members->contains("additionalProperties"))
      members->emplace("additionalProperties", false);
  }

  std::map<std::string, JsonSchema, std::less<>> schemas_;
};

}  // namespace praxis::testing

// Runs the public JSON Schema test suite in the layout of scripts/fetch-schema-suite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/testing/missing_part.hpp"
#include "praxis/json/json.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

fs::path suite_folder() {
  const char* const chosen = std::getenv("PRAXIS_SCHEMA_SUITE");
  return chosen ? fs::path(chosen) : fs::path(PRAXIS_BINARY_DIR) / "schema-suite";
}

Json read_json(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto json = parse_json(text);
  if (!json) ADD_FAILURE() << file << ": " << json.error().message;
  return json.value_or(nullptr);
}

std::vector<fs::path> json_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

JsonSchema::Documents documents() {
  JsonSchema::Documents result;
  const fs::path remotes = suite_folder() / "remotes";
  for (const fs::path& file : json_files(remotes)) {
    result["http://localhost:1234/" + file.lexically_relative(remotes).string()] = read_json(file);
  }
  for (const fs::path& file : json_files(suite_folder() / "metaschemas")) {
    const Json schema = read_json(file);
    result[json_string(schema, "$id")] = schema;
  }
  return result;
}

TEST(JsonSchemaSuite, EveryRequiredTestOfDraft202012Passes) {
  if (!fs::exists(suite_folder() / "tests")) {
    PRAXIS_MISSING_PART("no test suite in " << suite_folder()
                                            << ": run scripts/fetch-schema-suite on that folder");
  }
  const JsonSchema::Documents known = documents();
  std::size_t passed = 0, failed = 0;
  for (const fs::path& file : json_files(suite_folder() / "tests")) {
    const Json groups = read_json(file);
    for (const Json& group : groups.as_array()) {
      const std::string name = file.filename().string() + ": " + json_string(group, "description");
      const auto schema = JsonSchema::compile(json_at(group, "schema"), known);
      if (!schema) {
        ADD_FAILURE() << name << ": " << schema.error().message;
        failed += json_at(group, "tests").as_array().size();
        continue;
      }
      for (const Json& test : json_at(group, "tests").as_array()) {
        const auto problems = schema->validate(json_at(test, "data"));
        const bool right = problems.empty() == json_bool(test, "valid");
        right ? ++passed : ++failed;
        EXPECT_TRUE(right) << name << ": " << json_string(test, "description")
                           << (problems.empty() ? "" : ": " + problems[0].path + " " + problems[0].message);
      }
    }
  }
  RecordProperty("passed", static_cast<int>(passed));
  std::cout << passed << " of " << passed + failed << " tests of the suite pass\n";
  EXPECT_GT(passed, 1000U);
}

}  // namespace
}  // namespace praxis

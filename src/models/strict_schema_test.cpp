#include "models/strict_schema.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

const std::string kClosedSchema =
    R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})";
const std::string kOpenSchema = R"({"type":"object","properties":{"a":{"type":"string"}}})";

TEST(StrictSchema, EverySubschema_MustBeClosed) {
  const auto strict = [](const std::string& schema) { return is_strict_schema(parse_json(schema).value()); };
  const auto within = [](const std::string& a) {
    return R"({"type":"object","properties":{"a":)" + a +
           R"(},"required":["a"],"additionalProperties":false})";
  };
  EXPECT_TRUE(strict(kClosedSchema));
  EXPECT_TRUE(strict(within(R"({"type":["string","null"],"enum":["x",null]})")));
  EXPECT_TRUE(strict(within(R"({"type":"array","items":)" + kClosedSchema + "}")));
  EXPECT_TRUE(strict(within(R"({"anyOf":[{"type":"null"},)" + kClosedSchema + "]}")));
  EXPECT_FALSE(strict(kOpenSchema));
  EXPECT_FALSE(strict(within(kOpenSchema)));
  EXPECT_FALSE(strict(within(R"({"type":"array","items":)" + kOpenSchema + "}")));
  EXPECT_FALSE(strict(within(R"({"anyOf":[{"type":"null"},)" + kOpenSchema + "]}")));
  EXPECT_FALSE(strict(within(R"({"allOf":[]})")));
  EXPECT_FALSE(
      strict(R"({"type":"object","properties":{"a":{}},"required":[],"additionalProperties":false})"));
  EXPECT_FALSE(strict(R"({"type":"string"})"));
}

}  // namespace
}  // namespace praxis

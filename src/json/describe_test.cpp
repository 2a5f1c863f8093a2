// Settings read into described structs. Schemas, readers and writers are tested with typed tools.
#include "praxis/json/describe.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

enum class Color : std::uint8_t { kRed, kDarkBlue };
PRAXIS_ENUM(Color, kRed, kDarkBlue)

struct Paint {
  std::string name = "plain";
  bool glossy = false;
  std::int64_t coats = 2;
  Color color = Color::kRed;
  std::optional<int> price = 7;
  std::vector<std::string> thinners = {"water"};
  std::map<std::string, std::string> labels = {{"en", "paint"}};
};
PRAXIS_FIELDS(Paint, name, glossy, coats, color, price, thinners, labels)

std::string wrong(std::string_view settings) {
  Paint paint;
  const Status read = read_settings(*parse_json(settings), "paint", paint);
  return read ? "" : read.error().message;
}

TEST(Settings, MembersThatAreAbsent_Stay) {
  Paint paint;
  ASSERT_TRUE(read_settings(nullptr, "paint", paint));
  ASSERT_TRUE(
      read_settings(*parse_json(R"({"color":"dark_blue","coats":3,"thinners":["oil"]})"), "paint", paint));
  EXPECT_EQ(paint.name, "plain");
  EXPECT_EQ(paint.color, Color::kDarkBlue);
  EXPECT_EQ(paint.coats, 3);
  EXPECT_EQ(paint.price, 7);
  EXPECT_EQ(paint.thinners, std::vector<std::string>{"oil"}) << "a list is replaced";
  EXPECT_EQ(paint.labels.size(), 1U);
}

TEST(Settings, InvalidValues_AreNamedByTheirPath) {
  EXPECT_EQ(wrong("[]"), R"("paint" must be an object)");
  EXPECT_EQ(wrong(R"({"name":1})"), R"("paint.name" must be a string)");
  EXPECT_EQ(wrong(R"({"glossy":"no"})"), R"("paint.glossy" must be true or false)");
  EXPECT_EQ(wrong(R"({"price":0.5})"), R"("paint.price" must be an integer from -2147483648 to 2147483647)");
  EXPECT_EQ(wrong(R"({"color":"green"})"), R"("paint.color" must be one of "red", "dark_blue")");
  EXPECT_EQ(wrong(R"({"thinners":["a",1]})"), R"("paint.thinners[1]" must be a string)");
  EXPECT_EQ(wrong(R"({"labels":{"de":1}})"), R"("paint.labels.de" must be a string)");
}

TEST(Settings, Duration_IsMillisecondsOrAString) {
  EXPECT_EQ(from_json_as<Millis>(1'500).value(), Millis{1'500});
  EXPECT_EQ(from_json_as<Millis>("1.5s").value(), Millis{1'500});
  EXPECT_EQ(to_json_value(Millis{1'500}), Json(1'500));
  for (const Json& other : {Json("soon"), Json(-1), Json(1.5), Json(true)}) {
    const auto read = from_json_as<Millis>(other);
    ASSERT_FALSE(read) << to_json_text(other);
    EXPECT_TRUE(read.error().message.starts_with("the value must be a duration such as"));
  }
}

TEST(Settings, UnknownMembers_AreRefused) {
  EXPECT_EQ(wrong(R"({"coat":1})"), R"(unknown key "paint.coat"; did you mean "coats"?)");
  EXPECT_EQ(wrong(R"({"speed":1})"),
            R"(unknown key "paint.speed"; known are name, glossy, coats, color, price, thinners, labels)");
}

}  // namespace
}  // namespace praxis

#include "base/protobuf_fields.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/base64url.hpp"

namespace praxis {
namespace {

TEST(ProtobufFields, ReadsWhatItWrote) {
  std::string message;
  put_number_field(message, 1, 300);
  put_bytes_field(message, 15, "abc");
  put_number_field(message, 2, UINT64_MAX);
  EXPECT_EQ(message.substr(0, 3),
            "\x08\xAC\x02");  // the example of the protobuf encoding's documentation, 150 × 2
  ProtobufReader reader(message);
  EXPECT_EQ((*reader.next())->value, 300U);
  const auto bytes = *reader.next();
  EXPECT_EQ(bytes->number, 15U);
  EXPECT_EQ(bytes->bytes, "abc");
  EXPECT_EQ((*reader.next())->value, UINT64_MAX);
  EXPECT_FALSE(reader.next()->has_value());
}

TEST(ProtobufFields, ReadsFixedNumbers) {
  const std::string message("\x09\x01\x00\x00\x00\x00\x00\x00\x80\x15\x02\x01\x00\x00", 14);
  ProtobufReader reader(message);
  EXPECT_EQ((*reader.next())->value, 0x8000000000000001U);
  EXPECT_EQ((*reader.next())->value, 0x102U);
}

TEST(ProtobufFields, RefusesWhatIsNoMessage) {
  constexpr std::array<std::string_view, 6> kBad{
      "\x08",                                          // no number
      "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",  // more than 64 bits
      "\x0A\x05"
      "ab",                                        // fewer bytes than promised
      "\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",  // a huge length
      "\x0B",                                      // a group
      "\x02x",                                     // field 0
  };
  for (const std::string_view bad : kBad) {
    const auto field = ProtobufReader(bad).next();
    ASSERT_FALSE(field) << testing::PrintToString(bad);
    EXPECT_EQ(field.error().kind(), ErrorKind::kProtocol);
  }
}

TEST(Base64Url, DecodesOnlyWhatItEncodes) {
  for (const std::string_view bytes : {"", "a", "ab", "abc", "\xFB\xFF\xFE"}) {
    const std::string text = base64url_encode(bytes);
    EXPECT_EQ(text.find_first_of("+/="), text.npos);
    EXPECT_EQ(base64url_decode(text).value_or("?"), bytes);
  }
  for (const std::string_view bad : {"+/+/", "YQ==", "Y", "YR", "a b"})
    EXPECT_FALSE(base64url_decode(bad)) << bad;
}

}  // namespace
}  // namespace praxis

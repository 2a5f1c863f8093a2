#include "praxis/base/digest.hpp"

#include <gtest/gtest.h>

namespace praxis {
namespace {

TEST(Digest, IsBlake2b256) {
  EXPECT_EQ(digest_of("").hex(), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digest_of("abc").hex(), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Digest, ChainIsTheDigestOfBothPartsInOrder) {
  const Digest first = digest_of("first");
  const std::string bytes(first.bytes.begin(), first.bytes.end());
  EXPECT_EQ(digest_chain(first, "second"), digest_of(bytes + "second"));
  EXPECT_NE(digest_chain(first, "second"), digest_chain(Digest{}, "second"));
}

TEST(Digest, HexRoundTripsAndIsStrict) {
  const Digest digest = digest_of("x");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex(""));
  EXPECT_FALSE(Digest::from_hex(digest.hex() + "0"));
  EXPECT_FALSE(Digest::from_hex(std::string(63, '0') + "g"));
  EXPECT_FALSE(Digest::from_hex(std::string(64, 'A')));
}

TEST(Digest, OnlyAllZeroIsEmpty) {
  EXPECT_TRUE(Digest{}.empty());
  EXPECT_FALSE(digest_of("").empty());
}

}  // namespace
}  // namespace praxis

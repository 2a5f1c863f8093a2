#include "seal/sealer.hpp"

#include <gtest/gtest.h>
#include <sodium.h>

#include "seal/wrapped_key.hpp"

namespace praxis {
namespace {

std::string from_hex(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), hex.data(), hex.size(),
                 nullptr, nullptr, nullptr);
  return bytes;
}

const unsigned char* octets_of(const std::string& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

SealKey key_of_byte(char byte) { return SealKey(SecretBytes(std::string(SealKey::kBytes, byte))); }

// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
TEST(SealerVectors, TheDraftsExample_IsWhatTheLibraryComputes) {
  const std::string key = from_hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
  const std::string nonce = from_hex("404142434445464748494a4b4c4d4e4f5051525354555657");
  const std::string with = from_hex("50515253c0c1c2c3c4c5c6c7");
  const std::string text =
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
      "would be it.";
  const std::string expected = from_hex(
      "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6"
      "70"
      "8c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637d"
      "a9"
      "768812f615c68b13b52ec0875924c1c7987947deafd8780acf49");
  std::string sealed(text.size() + 16, '\0');
  crypto_aead_xchacha20poly1305_ietf_encrypt(reinterpret_cast<unsigned char*>(sealed.data()), nullptr,
                                             octets_of(text), text.size(), octets_of(with), with.size(),
                                             nullptr, octets_of(nonce), octets_of(key));
  EXPECT_EQ(sealed, expected);
}

TEST(Sealer, Value_OpensAtItsPlaceOnly) {
  const Sealer sealer(key_of_byte('k'));
  const SealPlace place = SealPlace("table.column").add("session").add(std::uint64_t{7});
  const std::string sealed = sealer.seal("a value", place);
  EXPECT_EQ(sealed.size(), 7 + Sealer::kOverhead);
  EXPECT_EQ(sealed.find("value"), std::string::npos);
  EXPECT_EQ(sealer.open(sealed, place), "a value");
  EXPECT_FALSE(sealer.open(sealed, SealPlace("table.column").add("session").add(std::uint64_t{8})));
  EXPECT_FALSE(sealer.open(sealed, SealPlace("table.columns").add("ession").add(std::uint64_t{7})));
  EXPECT_FALSE(Sealer(key_of_byte('x')).open(sealed, place));
  EXPECT_NE(sealer.seal("a value", place), sealed) << "a nonce came twice";
}

TEST(Sealer, FlippedBitAndCut_AreFound) {
  const Sealer sealer(key_of_byte('k'));
  const SealPlace place("column");
  const std::string sealed = sealer.seal("some text", place);
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(sealer.open(changed, place)) << "bit " << bit;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(sealer.open(sealed.substr(0, size), place)) << size;
}

TEST(WrappedKey, OpensWithItsSecretOnly) {
  const SealKey data_key = SealKey::random();
  const auto by_key = wrap_key(data_key, SealSecret(key_of_byte('k')));
  ASSERT_TRUE(by_key);
  EXPECT_EQ(unwrap_key(*by_key, SealSecret(key_of_byte('k')))->reveal(), data_key.reveal());
  EXPECT_FALSE(unwrap_key(*by_key, SealSecret(key_of_byte('x'))));
  const auto by_words = wrap_key(data_key, SealSecret(Passphrase{SecretBytes("correct horse")}));
  ASSERT_TRUE(by_words);
  EXPECT_TRUE(by_words->needs_passphrase());
  EXPECT_EQ(unwrap_key(*by_words, SealSecret(Passphrase{SecretBytes("correct horse")}))->reveal(),
            data_key.reveal());
  EXPECT_FALSE(unwrap_key(*by_words, SealSecret(Passphrase{SecretBytes("wrong horse")})));
  EXPECT_FALSE(unwrap_key(*by_words, SealSecret(key_of_byte('k'))));
  auto costly = *by_words;
  costly.cost.memory = std::uint64_t{1} << 50U;
  EXPECT_FALSE(unwrap_key(costly, SealSecret(Passphrase{SecretBytes("correct horse")})));
}

TEST(SealKey, IsReadAsBytesHexadecimalAndBase64) {
  const std::string bytes(SealKey::kBytes, 'k');
  std::string hex;
  for (std::size_t i = 0; i < SealKey::kBytes; ++i) hex += "6b";
  EXPECT_EQ(SealKey::parse(bytes)->reveal(), bytes);
  EXPECT_EQ(SealKey::parse(hex + "\n")->reveal(), bytes);
  EXPECT_EQ(SealKey::parse("a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=\n")->reveal(), bytes);
  for (const std::string& wrong :
       {std::string(), std::string("short"), hex + "6b", hex.substr(2), hex + " x"}) {
    const auto key = SealKey::parse(wrong);
    ASSERT_FALSE(key) << wrong;
    EXPECT_EQ(key.error().message.find("6b6b"), std::string::npos) << "an error repeats the key";
  }
}

}  // namespace
}  // namespace praxis

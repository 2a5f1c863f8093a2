#include "praxis/seal/secret.hpp"

#include <sodium.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/trimmed.hpp"

namespace praxis {
namespace {

/// Without a source of randomness or memory for a secret, nothing can be sealed.
char* secret_memory(std::size_t size) {
  static const int started = sodium_init();
  void* memory = started < 0 ? nullptr : sodium_malloc(size);
  if (memory == nullptr) std::abort();
  return static_cast<char*>(memory);
}

}  // namespace

void SecretBytes::Wipe::operator()(char* bytes) const { sodium_free(bytes); }

SecretBytes::SecretBytes(std::string_view bytes) : bytes_(secret_memory(bytes.size())), size_(bytes.size()) {
  if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
}

SecretBytes SecretBytes::random(std::size_t size) {
  SecretBytes bytes(std::string(size, '\0'));
  randombytes_buf(bytes.data(), size);
  return bytes;
}

void wipe(std::string& text) {
  sodium_memzero(text.data(), text.size());
  text.clear();
}

SealKey SealKey::random() { return SealKey(SecretBytes::random(kBytes)); }

Result<SealKey> SealKey::parse(std::string_view text) {
  if (text.size() == kBytes) return SealKey(SecretBytes(text));
  const std::string_view word = trimmed(text);
  SecretBytes bytes(std::string(kBytes, '\0'));
  auto* const to = reinterpret_cast<unsigned char*>(bytes.data());
  const auto has_all = [&](std::size_t length, const char* end) {
    return length == kBytes && end == word.data() + word.size();
  };
  std::size_t length = 0;
  const char* end = nullptr;
  if (sodium_hex2bin(to, kBytes, word.data(), word.size(), nullptr, &length, &end) == 0 &&
      has_all(length, end))
    return SealKey(std::move(bytes));
  if (sodium_base642bin(to, kBytes, word.data(), word.size(), nullptr, &length, &end,
                        sodium_base64_VARIANT_ORIGINAL) == 0 &&
      has_all(length, end))
    return SealKey(std::move(bytes));
  return fail(ErrorCode::kInput, "not a key: a key is 32 bytes, as 64 hexadecimal digits or in base64");
}

}  // namespace praxis

// What opens a sealed store: a key of 32 bytes, or a passphrase. Both lie in memory of their own, which is
// locked where the system allows, left out of core dumps, and wiped when it is freed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "praxis/base/result.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Secret bytes. They leave this type only through `reveal`: it has no output operator and no JSON form. Can
/// be moved, not copied; a moved-from object is empty.
class SecretBytes {
 public:
  SecretBytes() = default;
  SecretBytes(SecretBytes&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  SecretBytes& operator=(SecretBytes&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  /// Copies `bytes`; the caller wipes its own copy. Ends the program if there is no memory.
  explicit SecretBytes(std::string_view bytes);
  /// From the system's source of randomness.
  static SecretBytes random(std::size_t size);

  /// Valid as long as this object.
  std::string_view reveal() const { return {bytes_.get(), size_}; }
  /// For functions that write a secret.
  char* data() { return bytes_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Wipe {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char, Wipe> bytes_;
  std::size_t size_ = 0;
};

/// Overwrites a text that held a secret.
void wipe(std::string& text);

/// A key of 256 bits.
class SealKey {
 public:
  static constexpr std::size_t kBytes = 32;

  /// A new key, from the system's source of randomness.
  static SealKey random();
  /// Reads a key as files, variables and commands hold it: 64 hexadecimal digits or base64 of 32 bytes, with
  /// spaces and line ends around it, or 32 bytes as they are. Error `kInput`, which does not repeat the text.
  static Result<SealKey> parse(std::string_view text);
  /// `bytes` must have the size.
  explicit SealKey(SecretBytes bytes) : bytes_(std::move(bytes)) {}

  std::string_view reveal() const { return bytes_.reveal(); }

 private:
  SecretBytes bytes_;
};

/// Words that a person remembers. A key is made of them by Argon2id.
struct Passphrase {
  SecretBytes words;
};

/// What the user has. A type of its own, so that other headers can declare it.
struct SealSecret : std::variant<SealKey, Passphrase> {
  using variant::variant;
};

}  // namespace praxis
#pragma GCC visibility pop

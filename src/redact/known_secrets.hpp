// Keeps secrets out of answers, errors and recordings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis {

/// The text that replaces a secret.
inline constexpr std::string_view kSecretMask = "[key]";

/// Where a text holds a secret: its first byte, and the byte after its last.
struct SecretPlace {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Replaces secrets in text by `[key]`, in each form in which a server can return them: as they are,
/// percent-encoded (also twice), as part of base64 (both alphabets), in hexadecimal, and escaped in JSON or
/// HTML. Secrets of less than six bytes are placeholders that could occur in ordinary words, so they are
/// kept. Immutable; thread-safe.
class Redactor {
 public:
  Redactor() = default;
  explicit Redactor(const std::vector<std::string>& secrets);

  /// Whether there is nothing to replace.
  bool empty() const { return forms_.empty(); }
  /// Where `text` holds complete secrets, in order; overlapping ones are one place.
  std::vector<SecretPlace> find(std::string_view text) const;
  /// Returns `text` without complete secrets.
  std::string without_secrets(std::string text) const;
  /// Also replaces the beginning of a secret at the end of `text`, where a long text was cut.
  std::string without_cut_secrets(std::string text) const;
  /// Applies `without_cut_secrets` to all strings in `json`, but not to its keys.
  Json without_cut_secrets(const Json& json) const;
  /// How many bytes at the end of `text` may be the beginning of a secret.
  std::size_t unfinished(std::string_view text) const;

 private:
  std::vector<std::string> forms_;  ///< longest first
};

/// The secrets that are too long to be ordinary words: those that are replaced in answers as well.
std::vector<std::string> unmistakable(const std::vector<std::string>& secrets);

}  // namespace praxis

// Values of a SQLite file that is sealed or plain. For a plain file, whose connection has no sealer, all of
// this passes values through.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/digest.hpp"
#include "seal/sealer.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// A value for the file, which keeps the bytes that it is bound from.
class SealedText {
 public:
  /// `text` must outlive this object.
  SealedText(const Sealer* sealer, std::string_view text, const SealPlace& place);
  /// Nothing stays nothing. `place`, which returns a `SealPlace`, is called only for a value that is sealed.
  template <std::invocable Place>
  SealedText(const Sealer* sealer, const std::optional<std::string>& text, const Place& place)
      : is_sealed_(sealer != nullptr && text && !text->empty()),
        sealed_(is_sealed_ ? sealer->seal(*text, place()) : std::string()) {
    if (text) bytes_ = is_sealed_ ? std::string_view(sealed_) : std::string_view(*text);
  }
  /// `text` would not outlive this object.
  template <std::invocable Place>
  SealedText(const Sealer* sealer, std::optional<std::string>&& text, const Place& place) = delete;
  SealedText(const SealedText&) = delete;
  SealedText& operator=(const SealedText&) = delete;

  StoredValue value() const { return {bytes_, is_sealed_}; }
  /// The sealed bytes; empty if the value is not sealed.
  std::string_view sealed() const { return sealed_; }

 private:
  const bool is_sealed_;
  std::string sealed_;
  std::optional<std::string_view> bytes_;
};

/// Opens a value of the file. `std::nullopt`: it is damaged, altered or from another place.
std::optional<std::string> opened(const Sealer* sealer, std::string_view stored, const SealPlace& place);

/// The name under which the file has a content.
Digest stored_name(const Sealer* sealer, const Digest& digest);

}  // namespace praxis

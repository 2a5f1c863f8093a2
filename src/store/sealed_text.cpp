#include "store/sealed_text.hpp"

namespace praxis {

SealedText::SealedText(const Sealer* sealer, std::string_view text, const SealPlace& place)
    : is_sealed_(sealer != nullptr), sealed_(is_sealed_ ? sealer->seal(text, place) : std::string()) {
  bytes_ = is_sealed_ ? std::string_view(sealed_) : text;
}

std::optional<std::string> opened(const Sealer* sealer, std::string_view stored, const SealPlace& place) {
  if (sealer == nullptr) return std::string(stored);
  return sealer->open(stored, place);
}

Digest stored_name(const Sealer* sealer, const Digest& digest) {
  return sealer == nullptr ? digest : sealer->name_of(digest);
}

}  // namespace praxis

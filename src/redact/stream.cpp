#include "redact/stream.hpp"

#include <algorithm>
#include <utility>

#include "redact/text_bounds.hpp"

namespace praxis::redact {
namespace {

constexpr std::size_t kMostHeld = std::size_t{16} * 1024;
constexpr std::size_t kKept = 512;  // bytes before, that rules look at

}  // namespace

std::string StreamRedactor::push(std::string_view piece) {
  if (!known_) return search(piece);
  begun_ = known_->without_secrets(begun_.append(piece));
  const std::size_t ready = begun_.size() - known_->unfinished(begun_);
  std::string out = search(std::string_view(begun_).substr(0, ready));
  begun_.erase(0, ready);
  return out;
}

std::string StreamRedactor::search(std::string_view piece) {
  if (!detector_) return std::string(piece);
  if (in_block_) {
    std::size_t end = 0;
    while (end < piece.size() && is_base64_text(piece[end])) ++end;
    if (end == piece.size()) return {};
    in_block_ = false;
    piece.remove_prefix(end);
  }
  buffer_ += piece;
  std::size_t end = std::max(detector_->settled(buffer_), shown_);
  const bool too_much = buffer_.size() - end > kMostHeld;
  if (too_much) end = buffer_.size();
  std::string out = release(end);
  in_block_ = too_much && out.ends_with(']');
  return out;
}

std::string StreamRedactor::finish() {
  std::string out;
  if (known_) out = search(known_->without_cut_secrets(std::exchange(begun_, {})));
  if (detector_) out += release(buffer_.size());
  buffer_.clear();
  shown_ = 0;
  in_block_ = false;
  return out;
}

std::string StreamRedactor::release(std::size_t end) {
  std::string out;
  std::size_t at = shown_;
  if (end > at) {
    for (const Place& place : detector_->find(buffer_)) {
      if (place.end <= at || place.begin >= end) continue;
      const std::size_t begin = std::max(place.begin, at);
      out.append(buffer_, at, begin - at);
      out += replacement(place.kind, std::string_view(buffer_).substr(begin, place.end - begin), key_);
      at = place.end;
    }
  }
  if (end > at) {
    out.append(buffer_, at, end - at);
    at = end;
  }
  shown_ = at;
  if (shown_ > kKept + kKept) {
    const std::size_t gone = shown_ - kKept;
    buffer_.erase(0, gone);
    shown_ -= gone;
  }
  return out;
}

}  // namespace praxis::redact

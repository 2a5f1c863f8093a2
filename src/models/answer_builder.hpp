// The parts of an answer while it is read, and the deltas that tell of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/codec.hpp"

namespace praxis {

/// What every reader does with the pieces it finds. Items are numbered in the order in which they are opened.
/// Not thread-safe.
class AnswerBuilder {
 public:
  AnswerBuilder(const CodecTarget& target, AnswerReader::Options options)
      : target_(target), options_(std::move(options)) {}

  ModelResponse response;

  /// Adds a part; its number.
  std::size_t open(Part part);
  Part& part(std::size_t item) { return response.parts[item]; }
  /// Appends to a text or refusal part.
  void text(std::size_t item, std::string_view text);
  /// Appends to a reasoning part, to its summary or to its raw text.
  void reasoning(std::size_t item, std::string_view text, bool summary = false);
  /// Names a call that was opened: it gets `vendor_id`, or one of our own when that is empty or taken, and is
  /// told of, together with the arguments that came before.
  void name_call(std::size_t item, std::string_view vendor_id, std::string_view name);
  /// Appends to the arguments of a call; they are told of from when it has a name.
  void arguments(std::size_t item, std::string_view bytes);
  /// Tells of an event that only the vendor understands.
  void provider_event(std::string_view raw) { emit(ProviderEvent{raw}); }
  /// State of the target's own for one of its parts: JSON text, byte-exact.
  VendorStatePtr state(std::string raw) const;

  std::size_t deltas() const { return deltas_; }

 private:
  std::string usable_id(std::string_view vendor_id) const;
  void emit(const ModelDelta& delta);

  const CodecTarget& target_;  ///< of the codec, which outlives its readers
  const AnswerReader::Options options_;
  std::size_t calls_ = 0;
  std::size_t deltas_ = 0;
};

}  // namespace praxis

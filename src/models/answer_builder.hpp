// Collects the parts of an answer while it is read, and emits the matching deltas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "models/codec.hpp"

namespace praxis {

/// Used by all answer readers. Parts are numbered in the order in which they are opened. Not thread-safe.
class AnswerBuilder {
 public:
  AnswerBuilder(const CodecTarget& target, AnswerReader::Options options)
      : target_(target), options_(std::move(options)) {}

  ModelResponse response;

  /// Parses an answer that is not streamed and has `use` read it; errors of `AnswerShapes::read`.
  Status read_whole(std::string_view body, const std::function<Status(const Json&)>& use) const {
    return options_.shapes ? options_.shapes->read(body, use) : AnswerShapes().read(body, use);
  }
  /// For the events of the answer's stream.
  EventJson event_json() const { return EventJson(options_.shapes); }

  /// Adds a part and returns its number.
  std::size_t open(Part part);
  Part& part(std::size_t item) { return response.parts[item]; }
  /// Appends to a text or refusal part.
  void text(std::size_t item, std::string_view text);
  /// Appends to a reasoning part: to its summary or to its raw text.
  void reasoning(std::size_t item, std::string_view text, bool summary = false);
  /// Names an open call and emits its first delta, together with any arguments buffered so far. The id is
  /// `vendor_id`, or a generated one if `vendor_id` is empty or taken.
  void name_call(std::size_t item, std::string_view vendor_id, std::string_view name);
  /// Appends to the arguments of a call. Their deltas are held back until the call has a name.
  void arguments(std::size_t item, std::string_view bytes);
  /// Emits an event that only the vendor can interpret.
  void provider_event(std::string_view raw) { emit(ProviderEvent{raw}); }
  /// Wraps JSON text, kept byte for byte, as vendor state of the target.
  VendorStatePtr state(std::string raw) const;

  std::size_t deltas() const { return deltas_; }

 private:
  std::string usable_id(std::string_view vendor_id) const;
  void emit(const ModelDelta& delta);

  const CodecTarget& target_;  ///< owned by the codec, which outlives its readers
  const AnswerReader::Options options_;
  std::size_t calls_ = 0;
  std::size_t deltas_ = 0;
};

}  // namespace praxis

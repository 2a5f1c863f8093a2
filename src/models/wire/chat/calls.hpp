// Puts the tool calls of a streamed answer together from their fragments, by the rules that fit every server
// of the family.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::chat {

/// What a chunk says of one call; the views live as long as the chunk.
struct CallFragment {
  std::optional<std::int64_t> index = {};
  std::string_view id = {}, name = {};
  std::string arguments = {};
  Json extra_content = {};  ///< a signature that goes back with the call
};

/// Reads an element of `tool_calls`; nothing when there is no call in it.
std::optional<CallFragment> read_call(const Json& call);
std::optional<CallFragment> read_call(Json&& call) = delete;

/// A call id as servers take it; one that they would not is replaced by a digest of it.
std::string wire_id(std::string_view id, CallIds format);

/// The vendor state of a call whose id only its own server would take: `{"id": ...}`, perhaps with
/// `extra_content`, which is kept for every call that has it.
inline constexpr std::string_view kOwnId = "id";

/// Not thread-safe.
class CallAssembler {
 public:
  CallAssembler(AnswerBuilder& builder, CallIds format) : builder_(builder), format_(format) {}

  /// Adds a fragment to the call it belongs to, or opens one; `whole` says that it is all of a call.
  void add(const CallFragment& fragment, bool whole);

  /// No more fragments come. Calls that a model wrapped into one are unwrapped; calls without a name get at
  /// least an id.
  void finish();

 private:
  struct Call {
    std::size_t item = 0;
    std::optional<std::int64_t> index;  ///< the vendor's
    std::string vendor_id;
    std::string name;
    Json extra_content;
    bool announced = false;
  };

  Call* find(const CallFragment& fragment);
  void announce(Call& call);
  bool unwrap(const Call& wrapper);
  void settle(const Call& call);
  ToolCallPart& part_of(const Call& call) { return std::get<ToolCallPart>(builder_.part(call.item)); }

  AnswerBuilder& builder_;  ///< of the reader that owns this
  const CallIds format_;
  std::vector<Call> calls_;
};

}  // namespace praxis::chat

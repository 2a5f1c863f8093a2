// Assembles the tool calls of a streamed answer from their fragments, by rules that work for every Chat
// Completions server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/answer_builder.hpp"
#include "models/wire/chat/dialect.hpp"

namespace praxis::wire::chat {

/// One chunk's data for a call; the views are valid as long as the chunk.
struct CallFragment {
  std::optional<std::int64_t> index = {};
  std::string_view id = {}, name = {};
  std::string arguments = {};
  Json extra_content = {};  ///< vendor data to send back with the call, such as a signature
};

/// Parses an element of `tool_calls`; `std::nullopt` if it contains no call.
std::optional<CallFragment> read_call(const Json& call);
std::optional<CallFragment> read_call(Json&& call) = delete;

/// A call id in a form that the server accepts: an invalid id is replaced by a digest of it.
std::string wire_id(std::string_view id, CallIds format);

/// Member names of a call's vendor state: `{"id": ..., "extra_content": ...}`. `id` is stored if only the
/// server that made it would accept it; `extra_content` is stored whenever the call has it.
inline constexpr std::string_view kOwnId = "id";

/// Not thread-safe.
class CallAssembler {
 public:
  CallAssembler(AnswerBuilder& builder, CallIds format) : builder_(builder), format_(format) {}

  /// Adds a fragment to its call, or opens a new call; `whole`: the fragment is a complete call.
  void add(const CallFragment& fragment, bool whole);

  /// Ends the assembly: unwraps calls that the model wrapped into one, and gives an id to calls without a
  /// name.
  void finish();

 private:
  struct Call {
    std::size_t item = 0;
    std::optional<std::int64_t> index;  ///< the vendor's index
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

  AnswerBuilder& builder_;  ///< owned by the reader that owns this object
  const CallIds format_;
  std::vector<Call> calls_;
};

}  // namespace praxis::wire::chat

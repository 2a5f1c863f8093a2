// Finds the tool calls that a model wrote into its text, for models that know no other way to call:
//
//     <tool_call>
//     {"name": "add", "arguments": {"x": 2, "y": 3}}
//     </tool_call>
//
// Weak models get this nearly right, so it also reads a call in a code fence instead of the tags or around
// them, one without its end tag, and JSON with small damage. Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "praxis/json/json.hpp"

namespace praxis::text_tools {

/// A call as it was found. One that cannot be read has its raw text as `arguments`, which are then no JSON or
/// come without a name.
struct FoundCall {
  std::string name;
  std::string arguments;  ///< JSON text
};
using Piece = std::variant<std::string, FoundCall>;

/// Mends what weak models do to JSON: single quotes, raw control characters and stray back-slashes in
/// strings, Python's constants, superfluous commas, brackets missing or left over at the end. One pass.
/// Nothing when that does not make it JSON; an unfinished string never becomes one.
std::optional<Json> mend_json(std::string_view text);

/// Reads one text as it streams; where it is cut makes no difference. Not thread-safe.
class CallReader {
 public:
  /// `tools` are the names of those on offer: only calls of these are recognised without their tags.
  explicit CallReader(std::vector<std::string> tools) : tools_(std::move(tools)) {}

  /// What is certain after these further bytes: text comes at once, but for what may yet become a call.
  std::vector<Piece> feed(std::string_view bytes);
  /// The rest, after the last byte.
  std::vector<Piece> finish();

  /// What had to be mended or left out.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  enum class Mode : std::uint8_t { kText, kTagged, kFenced, kDeaf };
  /// What begins at some byte.
  enum class Sign : std::uint8_t { kNone, kPerhaps, kTag, kFence, kFencedTag, kResult };
  struct Opening {
    Sign sign = Sign::kNone;
    std::size_t length = 0;  ///< up to the call's JSON, or to the tag in the fence
  };

  /// How far the JSON of a call has been followed.
  struct Follower {
    std::size_t at = 0;     ///< the next byte
    std::size_t depth = 0;  ///< of brackets
    char quote = 0;         ///< of the string that `at` is in; 0: in none
    bool begun = false;
    bool ended = false;   ///< the brackets are closed, right before `at`
    bool untied = false;  ///< the end tag stands at `at`, before they are
  };

  void follow(bool tagged);
  Opening tag_at(std::string_view text) const;
  Opening opening_at(std::string_view text) const;
  // These return whether there may be more to decide.
  bool read_text(bool last);
  bool read_after_fenced(bool last);
  bool read_tagged(bool last);
  bool read_fenced(bool last);
  void read_all(bool last);
  void open(const Opening& opening);
  void close(std::size_t length);
  bool is_offered(const Json& call) const;
  void say(std::string_view text);
  void add_call(FoundCall found);
  void add_unreadable(std::string_view body);
  void add_calls(std::string_view body);

  const std::vector<std::string> tools_;
  Mode mode_ = Mode::kText;
  std::string buffer_;     ///< what is not yet decided, from the opening sign of a call on
  std::size_t body_ = 0;   ///< where in `buffer_` the call's JSON begins
  Follower follower_;      ///< relative to `body_`
  bool in_fence_ = false;  ///< a call stood in a code fence whose end is still to come
  bool said_ = false;      ///< there was text since the last call
  std::string blank_;      ///< white space before it
  std::size_t calls_ = 0;
  std::vector<Piece> pieces_;
  std::vector<std::string> warnings_;
};

}  // namespace praxis::text_tools

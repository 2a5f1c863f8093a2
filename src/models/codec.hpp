// What a wire protocol has to say for itself: how a request is laid out as bytes and how an answer's bytes
// become parts. Pure: no I/O, no clock, no state but what is passed in. One codec per protocol; how servers
// of one protocol differ is data (`CodecTarget::dialect`), never a test for a name.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "praxis/models/catalog.hpp"
#include "praxis/models/model.hpp"

namespace praxis {

/// Whom a codec speaks to.
struct CodecTarget {
  std::string provider;  ///< under which vendor state is kept
  std::string model;     ///< as the wire wants it
  Json dialect = {};     ///< the provider's flags, overlaid with the model's
  ModelFacts facts = {};
};

/// Whether vendor state was made by the very model that is now spoken to.
inline bool is_of(const VendorStatePtr& state, const CodecTarget& target) {
  return state && state->vendor == target.provider && state->model == target.model;
}

/// Reads one answer. Not thread-safe.
class AnswerReader {
 public:
  struct Options {
    ModelSink* deltas = nullptr;   ///< null: nobody wants them
    std::string call_prefix = {};  ///< of the ids invented for calls that come without a usable one
    /// Whether the conversation already has a call of this id.
    std::function<bool(std::string_view)> call_taken = {};
  };
  virtual ~AnswerReader() = default;

  /// One event of a stream: its name (empty without one) and its data, a line of it for protocols of lines.
  /// An error is the answer's end.
  virtual Status read_event(std::string_view name, std::string_view data) = 0;
  /// The body of an answer that is not streamed, or that a server chose not to stream.
  virtual Status read_whole(std::string_view body) = 0;
  /// The answer, after its last byte. Without usage from the vendor, `usage` is zero and marked as estimated.
  /// Error: `truncated_stream` when the answer's end was never seen.
  virtual Result<ModelResponse> finish() = 0;
  /// Whether the vendor said that nothing follows: how the connection ends no longer matters.
  virtual bool is_done() const = 0;
  /// What has been read so far, with the finish and the usage that the vendor has stated; valid also after
  /// `finish` failed. No call in it may run.
  virtual const ModelResponse& so_far() const = 0;
  /// How many deltas there were so far.
  virtual std::size_t deltas() const = 0;
};

/// What a request's writer has to remember between messages.
struct RenderState {
  std::string open_role;  ///< of the message that later parts may still join; empty: none is open
  std::map<std::string, std::string, std::less<>> call_names;  ///< tool names by call id
  /// Ids by which the wire knows calls that are still to be answered, by call id.
  std::map<std::string, std::string, std::less<>> wire_ids;
  /// What ends the last element written, when another follows and when none does; empty: it has ended.
  std::string end_if_continued, end_if_last;
  std::size_t first_item = 0;  ///< where in the body the messages begin; 0: not known yet
};

enum class Framing : std::uint8_t { kEvents, kLines };

/// Immutable; thread-safe. A request's body is head, messages, tail, so that the next request of a
/// conversation extends the bytes of the last one but for the tail.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Appended to the base URL; begins with a slash.
  virtual std::string path(bool stream) const = 0;
  /// Headers of the protocol, beside content type and key.
  virtual HttpHeaders headers(const ModelRequest&) const { return {}; }
  virtual Framing framing() const { return Framing::kEvents; }
  /// Whether its requests ask the server to shorten a conversation that nears the window.
  virtual bool compacts() const { return false; }

  /// Everything that stands before the history's messages: model, settings, tools, instructions.
  virtual std::string head(const ModelRequest& request) const = 0;
  /// Appends one message of the history.
  virtual void append(std::string& body, const Message& message, RenderState& state) const = 0;
  /// Closes the body.
  virtual void close(std::string& body, const RenderState& state) const = 0;

  virtual std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const = 0;
};
using CodecPtr = std::shared_ptr<const Codec>;

/// The codecs, by protocol. Error `kInput`: a dialect flag that the protocol does not know, or a value of the
/// wrong type.
Result<CodecPtr> chat_codec(CodecTarget target);
Result<CodecPtr> responses_codec(CodecTarget target);
Result<CodecPtr> messages_codec(CodecTarget target);
Result<CodecPtr> gemini_codec(CodecTarget target);
Result<CodecPtr> ollama_codec(CodecTarget target);
/// Whether tools have to go as text: the flag `tools` (`native` or `text`), which every protocol has, else
/// what is known of the model. Error `kInput`: another value of the flag.
Result<bool> tools_as_text(const CodecTarget& target);
/// By the name of the protocol (`ProviderFacts::api`). Error `kInput` also for an unknown one.
Result<CodecPtr> make_codec(std::string_view api, CodecTarget target);

}  // namespace praxis

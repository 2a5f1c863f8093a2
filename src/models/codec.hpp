// A wire protocol as pure functions: writes requests as bytes and reads answers from bytes. No I/O, no clock,
// no state except what is passed in. There is one codec per protocol; differences among servers of one
// protocol are data (`CodecTarget::dialect`), never a test for a provider's name.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "models/answer_json.hpp"
#include "praxis/models/catalog.hpp"
#include "praxis/models/model.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// The provider and model that a codec addresses.
struct CodecTarget {
  std::string provider;  ///< key under which vendor state is stored
  std::string model;     ///< the id that the API expects
  Json dialect = {};     ///< the provider's flags, overridden by the model's
  ModelFacts facts = {};
};

/// Whether `state` was created by the target's own model.
inline bool is_of(const VendorStatePtr& state, const CodecTarget& target) {
  return state && state->vendor == target.provider && state->model == target.model;
}

/// Reads one answer. Not thread-safe.
class AnswerReader {
 public:
  struct Options {
    ModelSink* deltas = nullptr;  ///< null: no deltas are wanted
    /// Prefix of the ids generated for calls that arrive without a usable id.
    std::string call_prefix = {};
    /// Whether the conversation already has a call of this id.
    std::function<bool(std::string_view)> call_taken = {};
    /// Shared by the calls of one endpoint; null: nothing is shared.
    std::shared_ptr<AnswerShapes> shapes = nullptr;
  };
  virtual ~AnswerReader() = default;

  /// Reads one event of a stream: its name (empty if it has none) and its data; for line protocols, one line.
  /// An error ends the answer.
  virtual Status read_event(std::string_view name, std::string_view data) = 0;
  /// Reads the body of an answer that is not streamed, because of the request or of the server.
  virtual Status read_whole(std::string_view body) = 0;
  /// Called after the last byte; returns the answer. If the vendor reported no usage, `usage` is zero and
  /// marked as estimated. Error `truncated_stream`: the end of the answer is missing.
  virtual Result<ModelResponse> finish() = 0;
  /// Whether the vendor has marked the answer as complete; the way the connection ends is then irrelevant.
  virtual bool is_done() const = 0;
  /// The part of the answer read so far, with the finish reason and usage that the vendor has stated. Also
  /// valid after `finish` failed. No call in it may run.
  virtual const ModelResponse& so_far() const = 0;
  /// Number of deltas so far.
  virtual std::size_t deltas() const = 0;
};

/// What a codec remembers between the messages of one request.
struct RenderState {
  /// Role of the last message if later parts may still be added to it; empty: none is open.
  std::string open_role;
  std::map<std::string, std::string, std::less<>> call_names;  ///< tool names by call id
  /// Ids that the request uses for calls without a result yet, by call id.
  std::map<std::string, std::string, std::less<>> wire_ids;
  /// Bytes that end the last element, if another element follows and if none does; both empty: it is
  /// complete.
  std::string end_if_continued, end_if_last;
  std::size_t first_item = 0;  ///< offset in the body at which the messages begin; 0: not known yet
};

enum class Framing : std::uint8_t { kEvents, kLines };

/// Immutable; thread-safe. The body of a request is head, messages, tail. The next request of a conversation
/// therefore starts with the same bytes, except for the tail.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Path appended to the base URL; begins with a slash.
  virtual std::string path(bool stream) const = 0;
  /// Headers of the protocol, in addition to content type and key.
  virtual HttpHeaders headers(const ModelRequest&) const { return {}; }
  virtual Framing framing() const { return Framing::kEvents; }
  /// Whether requests ask the server to compact a conversation that nears the window.
  virtual bool compacts() const { return false; }

  /// Everything before the history's messages: model, settings, tools, instructions.
  virtual std::string head(const ModelRequest& request) const = 0;
  /// Appends one message of the history.
  virtual void append(std::string& body, const Message& message, RenderState& state) const = 0;
  /// Closes the body.
  virtual void close(std::string& body, const RenderState& state) const = 0;

  virtual std::unique_ptr<AnswerReader> reader(AnswerReader::Options options) const = 0;
};
using CodecPtr = std::shared_ptr<const Codec>;

/// One factory per protocol. Error `kInput`: an unknown dialect flag, or a value of the wrong type.
Result<CodecPtr> chat_codec(CodecTarget target);
Result<CodecPtr> responses_codec(CodecTarget target);
Result<CodecPtr> messages_codec(CodecTarget target);
Result<CodecPtr> gemini_codec(CodecTarget target);
Result<CodecPtr> ollama_codec(CodecTarget target);
/// Whether tools are sent as text: the flag `tools` (`native` or `text`), which every protocol has, otherwise
/// according to the model's facts. Error `kInput`: another value of the flag.
Result<bool> tools_as_text(const CodecTarget& target);
/// The codec for a protocol (`ProviderFacts::api`). Error `kInput` also for an unknown protocol.
Result<CodecPtr> make_codec(std::string_view api, CodecTarget target);

}  // namespace praxis

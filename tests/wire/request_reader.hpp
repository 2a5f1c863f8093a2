// The common part of the readers of recorded requests: one class per protocol derives from it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "wire/reading.hpp"
#include "wire/recorded_request.hpp"

namespace praxis::wire {

class RequestReader {
 public:
  explicit RequestReader(const RecordedEndpoint& endpoint) : endpoint_(endpoint) {}
  virtual ~RequestReader() = default;
  virtual void read(const Json& body) = 0;
  RecordedConversation take() && { return std::move(out_); }

 protected:
  void add(Role role, std::vector<Part> parts);
  /// Adds an assistant turn in the form of a whole response of the protocol.
  void add_answer(const Json& answer);
  /// Adds a tool's result; without an id it answers the oldest open call of that name, or the oldest open
  /// call.
  void add_result(std::string_view call_id, std::string_view name, std::string text, bool is_error,
                  std::vector<Part> media = {});
  void add_tool(std::string_view name, std::string_view description, const Json& parameters);
  /// Returns a part whose content is at `url`, which may be a `data:` URL.
  Part image(std::string_view url) const;
  Part file(std::string_view url, std::string name) const;
  Part image(std::string_view mime, std::string_view base64) const;
  Part file(std::string_view mime, std::string_view base64, std::string name) const;
  void unread(std::string_view kind) { out_.unread.emplace_back(kind); }

  RecordedConversation out_;

 private:
  struct OpenCall {
    std::string id, name;
  };

  const RecordedEndpoint& endpoint_;
  std::vector<OpenCall> open_;
  std::size_t turns_ = 0;
};

/// Returns the text of a string, or of a list of parts that have `text`.
std::string text_of(const Json& content);
/// The member `key`, or `other` when that is absent: protocols that take either spelling.
const Json& either(const Json& json, std::string_view key, std::string_view other);
/// Returns a tool's result, without the object that one vendor requires around it.
const Json& unwrapped_result(const Json& response);
/// Converts base64 with the URL alphabet to the standard alphabet.
std::string standard_base64(std::string_view text);
/// Returns a value as the text that a tool would have returned.
std::string result_text(const Json& value);

}  // namespace praxis::wire

// What the readers of recorded requests share: one class a protocol derives from it.
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
  /// An assistant turn in the form of a whole answer of the protocol.
  void add_answer(const Json& answer);
  /// A tool's result; without an id it answers the oldest open call of that name, or the oldest.
  void add_result(std::string_view call_id, std::string_view name, std::string text, bool is_error,
                  std::vector<Part> media = {});
  void add_tool(std::string_view name, std::string_view description, const Json& parameters);
  /// A part whose content is at `url`, which may be a `data:` URL.
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

/// The text of a string, or of a list of parts that have `text`.
std::string text_of(const Json& content);
/// What a tool returned, without the object that one vendor wants around it.
const Json& unwrapped_result(const Json& response);
/// The standard alphabet for data in that of URLs.
std::string standard_base64(std::string_view text);
/// A value as the text a tool would have returned.
std::string result_text(const Json& value);

}  // namespace praxis::wire

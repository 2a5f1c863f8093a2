// Turns the bytes of an HTTP response into an answer or a typed error. Distinguishes a stream, a whole body
// and an error by their content, not by the content type. Pure, so that a fuzzer can run it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "models/codec.hpp"
#include "praxis/net/sse.hpp"

namespace praxis {

/// Reads one response. Not thread-safe.
class AnswerParser {
 public:
  AnswerParser(const Codec& codec, AnswerReader::Options options);

  void head(const HttpResponseHead& head);
  /// The next bytes of the body, split at any position.
  void feed(std::string_view bytes);
  /// Ends the response; `transport` says how the connection ended. Errors are those of `ModelSink`, with the
  /// usage that the vendor had stated before.
  Result<ModelResponse> finish(const Status& transport);

  const ModelResponse& so_far() const { return reader_->so_far(); }
  std::size_t deltas() const { return reader_->deltas(); }
  bool is_ok() const { return is_ok_; }
  /// Of the response; empty before its head.
  const HttpHeaders& headers() const { return head_.headers; }

 private:
  enum class Shape : std::uint8_t { kUnknown, kStream, kWhole };

  Result<ModelResponse> answer(const Status& transport);
  Shape shape_of(std::string_view bytes) const;
  void feed_stream(std::string_view bytes);
  void feed_events(std::string_view bytes);
  void feed_lines(std::string_view bytes);
  void read_line(std::string_view line);
  Status end_of_events();
  Status end_of_body();
  Error with_headers(Error error) const;

  const Framing framing_;
  const std::unique_ptr<AnswerReader> reader_;
  SseParser parser_;
  const SseParser::OnEvent on_event_ = [this](const SseEvent& event) {
    if (status_) status_ = reader_->read_event(event.event, event.data);
  };
  std::string line_;  ///< incomplete last line of the previous chunk
  HttpResponseHead head_;
  bool is_ok_ = false;
  Shape shape_ = Shape::kUnknown;
  std::string body_;
  Status status_;
};

}  // namespace praxis

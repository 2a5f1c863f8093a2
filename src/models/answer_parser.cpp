#include "models/answer_parser.hpp"

#include <algorithm>
#include <utility>

#include "base/trimmed.hpp"
#include "models/vendor_error.hpp"

namespace praxis {
namespace {

constexpr std::size_t kMaxLine = 16 * 1024 * 1024;
constexpr std::string_view kBeforeBody = " \t\r\n\xEF\xBB\xBF";

/// Strips leading white space and a byte order mark.
std::string_view without_mark(std::string_view body) {
  return body.substr(std::min(body.size(), body.find_first_not_of(kBeforeBody)));
}

}  // namespace

AnswerParser::AnswerParser(const Codec& codec, AnswerReader::Options options)
    : framing_(codec.framing()), reader_(codec.reader(std::move(options))) {}

void AnswerParser::head(const HttpResponseHead& head) {
  is_ok_ = head.status >= 200 && head.status < 300;
  head_ = head;
}

/// Detects the shape by the first byte, because the content type is often wrong.
AnswerParser::Shape AnswerParser::shape_of(std::string_view bytes) const {
  if (!is_ok_) return Shape::kWhole;
  const std::size_t first = bytes.find_first_not_of(kBeforeBody);
  if (first == std::string_view::npos) return Shape::kUnknown;
  if (bytes[first] == '<' || bytes[first] == '[') return Shape::kWhole;
  if (framing_ == Framing::kLines) return Shape::kStream;
  return bytes[first] == '{' ? Shape::kWhole : Shape::kStream;
}

void AnswerParser::feed(std::string_view bytes) {
  if (shape_ == Shape::kUnknown) {
    shape_ = shape_of(bytes);
    if (shape_ == Shape::kStream)
      feed_stream(std::exchange(body_, {}));  // the bytes before did not decide the shape
  }
  if (shape_ == Shape::kStream) return feed_stream(bytes);
  body_.append(
      bytes.substr(0, is_ok_ ? bytes.size() : kMaxErrorBody - std::min(kMaxErrorBody, body_.size())));
}

void AnswerParser::feed_stream(std::string_view bytes) {
  framing_ == Framing::kEvents ? feed_events(bytes) : feed_lines(bytes);
}

/// Ignores the rest of the stream after the first error.
void AnswerParser::feed_events(std::string_view bytes) {
  if (!status_) return;
  if (const Status fed = parser_.feed(bytes, on_event_); !fed)
    status_ = fail(model_error(ErrorKind::kProtocol, "protocol: " + fed.error().message));
}

void AnswerParser::feed_lines(std::string_view bytes) {
  for (std::size_t end; status_ && (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
    if (line_.empty()) {
      read_line(bytes.substr(0, end));
    } else {
      read_line(line_.append(bytes.substr(0, end)));
      line_.clear();
    }
  }
  if (!status_) return;
  line_ += bytes;
  if (line_.size() > kMaxLine)
    status_ = fail(model_error(ErrorKind::kProtocol, "protocol: a line of the stream is too long"));
}

void AnswerParser::read_line(std::string_view line) {
  if (line = trimmed(without_mark(line)); !line.empty()) status_ = reader_->read_event({}, line);
}

/// Handles a last event without its end marker, and JSON outside of any event, which may be an error
/// envelope.
Status AnswerParser::end_of_events() {
  const Status ended = parser_.finish(on_event_);
  if (!status_ || reader_->is_done()) return status_;
  const std::string_view lines = parser_.stray();
  if (const auto stray = parse_json(lines.substr(std::min(lines.size(), lines.find('{'))))) {
    if (const auto envelope = read_error_envelope(*stray)) return fail(vendor_error(*envelope, 0));
  }
  return ended ? ended
               : fail(model_error(ErrorKind::kTruncatedStream, "truncated_stream: " + ended.error().message));
}

Status AnswerParser::end_of_body() {
  switch (shape_) {
    case Shape::kUnknown:  // no body: `finish` of the reader reports it
      return {};
    case Shape::kWhole:
      return reader_->read_whole(without_mark(body_));
    case Shape::kStream:
      if (framing_ == Framing::kEvents) return end_of_events();
      if (parse_json(trimmed(without_mark(line_))))
        read_line(std::exchange(line_, {}));  // the last line may lack its newline
      return status_;
  }
  std::unreachable();
}

/// Adds what the headers say about an error from the body, such as the retry delay.
Error AnswerParser::with_headers(Error error) const {
  if (error.code == ErrorCode::kModel && error.detail().is_object()) add_headers(error, head_.headers);
  return error;
}

Result<ModelResponse> AnswerParser::finish(const Status& transport) {
  auto response = answer(transport);
  if (response) return response;
  Usage stated = so_far().usage;
  stated.estimated = so_far().finish_raw.empty();  // only the end of the answer states the final output count
  report_usage(response.error(), stated);
  return response;
}

Result<ModelResponse> AnswerParser::answer(const Status& transport) {
  // An error that is not a network failure (cancelled, recording failed) counts even if the answer is
  // complete.
  if (!transport && transport.error().code != ErrorCode::kModel) return fail(transport.error());
  if (!status_) return fail(with_headers(status_.error()));
  const bool answering = head_.status != 0;
  if (answering && !is_ok_) return fail(http_error(head_, body_));
  if (!transport && !reader_->is_done()) return fail(transport_error(transport.error(), answering));
  if (const Status read = end_of_body(); !read) return fail(with_headers(read.error()));
  auto response = reader_->finish();
  if (!response) return fail(with_headers(response.error()));
  if (response->request_id.empty()) response->request_id = request_id(head_.headers);
  return response;
}

}  // namespace praxis

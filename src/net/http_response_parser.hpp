// Parses one HTTP/1.1 response: Beast reads the wire format, the head is kept, the body goes straight to the
// sink.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Upper bound of a response head, and of any other framing bytes that must be kept until they are complete.
constexpr std::size_t kMaxHeadBytes = 64 * 1024;
/// Header fields of a response, trailers included.
constexpr std::size_t kMaxHeaders = 256;

/// Feed it with `feed`, or `put_eof` at the end of input. Calls only `sink`'s body callback.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  ResponseParser(HttpSink* sink, std::size_t max_body_bytes) : sink_(sink) {
    header_limit(kMaxHeadBytes);
    body_limit(max_body_bytes);
  }

  const HttpResponseHead& head() const { return head_; }

  /// As `put`: returns the number of bytes that were used. Accepts a status line that ends after the code,
  /// which Beast refuses; RFC 9112 only asks servers for the space before an empty reason.
  std::size_t feed(std::string_view bytes, boost::beast::error_code& error) {
    constexpr std::size_t kLine = std::string_view("HTTP/1.1 200\r\n").size();  // the shortest status line
    if (!std::exchange(begun_, begun_ || bytes.size() >= kLine)) {
      if (!begun_) {
        error = boost::beast::http::error::need_more;
        return 0;
      }
      if (bytes.substr(kLine - 2, 2) == "\r\n") {
        const std::string line = std::string(bytes.substr(0, kLine - 2)) + " \r\n";
        put(boost::asio::const_buffer(line.data(), line.size()), error);
        if (error == boost::beast::http::error::need_more) error = {};
        return kLine;
      }
    }
    // The shortest chunked body is `0 CRLF CRLF`. Beast asserts that it gets as many bytes once it has seen
    // the zero.
    constexpr std::size_t kLast = std::string_view("0\r\n\r\n").size();
    if (is_header_done() && chunked() && bytes.starts_with('0') && bytes.size() < kLast) {
      error = boost::beast::http::error::need_more;
      return 0;
    }
    return put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  }

 private:
  using ErrorCode = boost::beast::error_code;
  using Text = boost::beast::string_view;
  using Field = boost::beast::http::field;
  using Verb = boost::beast::http::verb;

  static std::string_view view(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(Verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int status, Text, int, ErrorCode&) override {
    head_.status = status;
    head_.headers.reserve(16);
  }
  void on_field_impl(Field field, Text name, Text value, ErrorCode& error) override {
    // Beast looks at the last word alone: "chunked" with a folded line, or after another coding, would be
    // read in one way here and in another way by a proxy on the way.
    if (field == Field::transfer_encoding && !is_header_done() &&
        (std::exchange(has_coding_, true) || lower_case(view(value)) != "chunked")) {
      error = boost::beast::http::error::bad_transfer_encoding;
      return;
    }
    head_bytes_ += name.size() + value.size();
    if (++fields_ > kMaxHeaders || head_bytes_ > kMaxHeadBytes) {
      error = boost::beast::http::error::header_limit;
    } else if (!is_header_done()) {  // later fields are trailers, which are ignored
      head_.headers.emplace_back(view(name), view(value));
    }
  }
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text body, ErrorCode&) override {
    sink_->on_body(view(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, ErrorCode&) override {
    sink_->on_body(view(body));
    return body.size();
  }
  void on_finish_impl(ErrorCode&) override {}

  HttpSink* sink_;
  HttpResponseHead head_;
  std::size_t head_bytes_ = 0;
  std::size_t fields_ = 0;
  bool begun_ = false;  ///< the status line was passed on
  bool has_coding_ = false;
};

}  // namespace praxis

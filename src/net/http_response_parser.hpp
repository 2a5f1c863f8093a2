// Parses one HTTP/1.1 response: Beast reads the wire format, the head is kept, the body goes straight to the
// sink.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// Upper bound of a response head, and of any other framing bytes that must be kept until they are complete.
constexpr std::size_t kMaxHeadBytes = 64 * 1024;
/// Header fields of a response, trailers included.
constexpr std::size_t kMaxHeaders = 256;

/// Feed it with `put`, or `put_eof` at the end of input. Calls only `sink`'s body callback.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  ResponseParser(HttpSink* sink, std::size_t max_body_bytes) : sink_(sink) {
    header_limit(kMaxHeadBytes);
    body_limit(max_body_bytes);
  }

  const HttpResponseHead& head() const { return head_; }

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
  void on_field_impl(Field, Text name, Text value, ErrorCode& error) override {
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
};

}  // namespace praxis

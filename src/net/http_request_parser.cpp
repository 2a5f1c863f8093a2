#include "net/http_request_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <utility>

#include "base/ascii.hpp"

namespace praxis {

namespace http = boost::beast::http;

namespace {

// The shortest chunked body is `0 CRLF CRLF`. Beast asserts that it gets as many bytes once it has seen the
// zero.
constexpr std::size_t kLeastChunk = 5;

}  // namespace

class RequestParser::Beast final : public http::basic_parser<true> {
 public:
  explicit Beast(const RequestBounds& bounds) : bounds_(bounds) {
    header_limit(static_cast<std::uint32_t>(bounds.head_bytes));
    body_limit(bounds.body_bytes);
  }

  void refuse(int status, std::string reason) {
    if (status_ != 0) return;
    status_ = status;
    reason_ = std::move(reason);
  }
  void on_error(const boost::system::error_code& error) {
    if (error == http::error::header_limit) {
      refuse(431, "the head of the request is larger than " + std::to_string(bounds_.head_bytes) + " bytes");
    } else if (error == http::error::body_limit) {
      refuse(413, "the body of the request is larger than " + std::to_string(bounds_.body_bytes) + " bytes");
    } else if (error == http::error::bad_version) {
      refuse(400, "only HTTP/1.1 and HTTP/1.0 are served");
    } else {
      refuse(400, "the request is not valid HTTP: " + error.message());
    }
  }

  /// Refuses what Beast takes in a head, and others may read in another way: line ends of one character,
  /// lines that continue the one before, and zero bytes. `bytes` begins with the head; nothing if it is not
  /// whole.
  void check_lines(std::string_view bytes) {
    const std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n"));
    if (head.size() == bytes.size()) return;
    for (std::size_t at = 0; at < head.size(); ++at) {
      const char c = head[at];
      const char before = at == 0 ? '\0' : head[at - 1], after = at + 1 < head.size() ? head[at + 1] : '\r';
      const bool is_wrong = c == '\0' || (c == '\r' && after != '\n') ||
                            (c == '\n' && (before != '\r' || after == ' ' || after == '\t'));
      if (is_wrong) return refuse(400, "the lines of the head are not valid HTTP");
    }
  }

  /// The rules of a whole head that Beast does not check.
  void check_head() {
    request_.keep_alive = keep_alive();
    request_.is_http_1_0 = version_ == 10;
    if (hosts_ > 1 || (hosts_ == 0 && !request_.is_http_1_0)) {
      refuse(400, "a request has exactly one Host header");
    }
    if (const auto expect = find_header(request_.headers, "expect")) {
      request_.wants_continue = lower_case(*expect) == "100-continue";
      if (!request_.wants_continue) refuse(417, "of Expect only 100-continue is known");
    }
  }

  RequestBounds bounds_;
  ReceivedRequest request_;
  int status_ = 0;
  std::string reason_;
  bool checked_ = false;

 private:
  using Code = boost::beast::error_code;
  using Text = boost::beast::string_view;

  static std::string_view view(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(http::verb, Text method, Text target, int version, Code& error) override {
    request_.method = view(method);
    request_.target = view(target);
    version_ = version;
    if (version != 11 && version != 10) error = http::error::bad_version;
  }
  void on_response_impl(int, Text, int, Code&) override {}
  void on_field_impl(http::field field, Text name, Text value, Code& error) override {
    if (is_header_done()) return;  // trailers are ignored, but their size counts
    head_bytes_ += name.size() + value.size() + 4;
    if (++fields_ > bounds_.headers || head_bytes_ > bounds_.head_bytes) {
      error = http::error::header_limit;
      return;
    }
    if (field == http::field::host) ++hosts_;
    // Beast accepts a list of equal lengths.
    if (field == http::field::content_length &&
        (std::exchange(has_length_, true) || view(value).contains(','))) {
      error = http::error::multiple_content_length;
    }
    if (field == http::field::transfer_encoding) {
      if (std::exchange(has_coding_, true) || lower_case(view(value)) != "chunked") {
        refuse(400, "of Transfer-Encoding only a single chunked is known");
        error = http::error::bad_transfer_encoding;
      }
    }
    if (has_coding_ && has_length_) error = http::error::bad_transfer_encoding;
    request_.headers.emplace_back(view(name), view(value));
  }
  void on_header_impl(Code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Code&) override {}
  std::size_t on_body_impl(Text body, Code&) override {
    request_.body.append(view(body));
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, Code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Code&) override {
    request_.body.append(view(body));
    return body.size();
  }
  void on_finish_impl(Code&) override {}

  std::size_t head_bytes_ = 0, fields_ = 0;
  int hosts_ = 0, version_ = 11;
  bool has_length_ = false, has_coding_ = false;
};

RequestParser::RequestParser(const RequestBounds& bounds) : beast_(std::make_unique<Beast>(bounds)) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::size_t RequestParser::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && (state() == State::kHead || state() == State::kBody)) {
    boost::system::error_code error;
    const std::string_view rest = bytes.substr(used);
    if (beast_->is_header_done() && beast_->chunked() && rest.starts_with('0') && rest.size() < kLeastChunk)
      break;
    if (!beast_->is_header_done()) beast_->check_lines(rest);
    if (beast_->status_ != 0) break;
    used += beast_->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    if (error == http::error::need_more) break;
    if (error) beast_->on_error(error);
    if (beast_->is_header_done() && !std::exchange(beast_->checked_, true)) beast_->check_head();
  }
  return used;
}

RequestParser::State RequestParser::state() const {
  if (beast_->status_ != 0) return State::kFailed;
  if (beast_->is_done()) return State::kDone;
  return beast_->is_header_done() ? State::kBody : State::kHead;
}

int RequestParser::status() const { return beast_->status_; }
const std::string& RequestParser::reason() const { return beast_->reason_; }
ReceivedRequest& RequestParser::request() { return beast_->request_; }

}  // namespace praxis

#include "models/chat_model.hpp"

#include <utility>

#include "models/answer.hpp"
#include "models/chat_request.hpp"
#include "models/chat_response.hpp"
#include "models/vendor_error.hpp"
#include "praxis/base/sse.hpp"

namespace praxis::chat {
namespace {

/// `text` without the secret, should a server echo it.
std::string redact(std::string text, const std::string& secret) {
  constexpr std::string_view kMask = "[key]";
  constexpr std::size_t kLeast = 6;  // shorter ones are placeholders that occur in ordinary words
  if (secret.size() < kLeast) return text;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += kMask.size()) {
    text.replace(at, secret.size(), kMask);
  }
  return text;
}

/// One exchange: tells a stream from a whole answer and from an error, and reads each.
class Exchange final : public HttpSink {
 public:
  Exchange(std::shared_ptr<const Endpoint> endpoint, const RequestWriter& writer, const ModelRequest& request,
           std::shared_ptr<ModelSink> sink)
      : endpoint_(std::move(endpoint)),
        writer_(writer),
        sink_(std::move(sink)),
        streams_(request.stream),
        reader_({.dialect = endpoint_->dialect,
                 .deltas = request.stream ? sink_.get() : nullptr,
                 .call_prefix = "call_" + std::to_string(request.ordinal + 1) + '_',
                 .call_taken = [this](std::string_view id) { return writer_.knows_call(id); }}) {}

  void on_head(const HttpResponseHead& head) override {
    is_ok_ = head.status >= 200 && head.status < 300;
    head_ = head;
  }

  void on_body(std::string_view bytes) override {
    const std::size_t said = reader_.deltas();
    if (shape_ == Shape::kUnknown) shape_ = shape_of(bytes);
    if (shape_ == Shape::kStream) {
      read_stream(bytes);
    } else {
      body_.append(
          bytes.substr(0, is_ok_ ? bytes.size() : kMaxErrorBody - std::min(kMaxErrorBody, body_.size())));
    }
    if (streams_ && is_ok_ && reader_.deltas() == said) sink_->on_delta(KeepAlive{});
  }

  void on_done(Status transport) override {
    auto response = settle(transport);
    if (!response) response.error() = describe(std::move(response.error()));
    sink_->on_done(std::move(response));
  }

 private:
  enum class Shape : std::uint8_t { kUnknown, kStream, kWhole };

  /// The first byte tells what the content type often does not.
  Shape shape_of(std::string_view bytes) const {
    if (!is_ok_) return Shape::kWhole;
    const std::size_t first = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (first == std::string_view::npos) return Shape::kUnknown;
    return bytes[first] == '{' || bytes[first] == '[' || bytes[first] == '<' ? Shape::kWhole : Shape::kStream;
  }

  /// After the first error the rest of the stream is of no interest.
  void read_stream(std::string_view bytes) {
    if (!status_) return;
    if (const Status fed = parser_.feed(bytes, on_event_); !fed) status_ = fed;
  }

  /// The last event may lack its end, and what is no event at all may be an error.
  Status end_stream() {
    const Status ended = parser_.finish(on_event_);
    if (!status_ || reader_.is_done()) return status_;
    if (const auto stray = parse_json(parser_.stray())) {
      if (const auto envelope = read_error_envelope(*stray)) return fail(vendor_error(*envelope, 0));
    }
    return ended ? ended
                 : fail(model_error("truncated_stream", "truncated_stream: " + ended.error().message));
  }

  Status end_of_body() {
    switch (shape_) {
      case Shape::kUnknown:  // nothing came; the reader knows what that means
        return {};
      case Shape::kStream:
        return end_stream();
      case Shape::kWhole:
        return reader_.read_whole(body_);
    }
    std::unreachable();
  }

  Result<ModelResponse> settle(const Status& transport) {
    if (!transport && transport.error().code == ErrorCode::kCancelled) return fail(transport.error());
    if (!status_) return fail(status_.error());
    const bool answering = head_.status != 0;
    if (answering && !is_ok_) return fail(http_error(head_, body_));
    if (!transport && !reader_.is_done()) return fail(transport_error(transport.error(), answering));
    if (const Status read = end_of_body(); !read) return fail(read.error());
    auto response = reader_.finish();
    if (response && response->usage.estimated) {
      response->usage = estimate_usage(writer_.estimated_input(), response->parts);
    }
    return response;
  }

  Error describe(Error error) const {
    if (error.code == ErrorCode::kCancelled) return error;
    error.message =
        redact(std::string(endpoint_->dialect.vendor) + ':' + endpoint_->model + ": " + error.message,
               endpoint_->key);
    if (JsonObject* detail = error.detail.if_object()) {
      for (auto& member : *detail) {
        if (const auto* text = member.value().if_string())
          member.value() = redact(std::string(*text), endpoint_->key);
      }
    }
    return error;
  }

  const std::shared_ptr<const Endpoint> endpoint_;
  const RequestWriter& writer_;  ///< of the session, which outlives its calls
  const std::shared_ptr<ModelSink> sink_;
  const bool streams_;
  ResponseReader reader_;
  SseParser parser_;
  const SseParser::OnEvent on_event_ = [this](const SseEvent& event) {
    if (status_) status_ = reader_.read_event(event.data);
  };
  HttpResponseHead head_;
  bool is_ok_ = false;
  Shape shape_ = Shape::kUnknown;
  std::string body_;
  Status status_;
};

class Session final : public ModelSession {
 public:
  Session(std::shared_ptr<const Endpoint> endpoint, std::shared_ptr<HttpClient> http)
      : endpoint_(std::move(endpoint)),
        http_(std::move(http)),
        writer_(endpoint_->model, endpoint_->dialect) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    HttpRequest http;
    http.method = "POST";
    http.url = endpoint_->base_url + "/chat/completions";
    http.headers = {{"content-type", "application/json"},
                    {"accept", request.stream ? "text/event-stream" : "application/json"}};
    if (!endpoint_->key.empty()) http.headers.emplace_back("authorization", "Bearer " + endpoint_->key);
    http.body = writer_.write(request);
    http.timeouts = endpoint_->timeouts;
    auto exchange = std::make_shared<Exchange>(endpoint_, writer_, request, std::move(sink));
    http_->send(std::move(http), std::move(exchange), std::move(stop));
  }

 private:
  const std::shared_ptr<const Endpoint> endpoint_;
  const std::shared_ptr<HttpClient> http_;
  RequestWriter writer_;
};

class ChatModel final : public Model {
 public:
  ChatModel(Endpoint endpoint, std::shared_ptr<HttpClient> http)
      : name_(std::string(endpoint.dialect.vendor) + ':' + endpoint.model),
        endpoint_(std::make_shared<const Endpoint>(std::move(endpoint))),
        http_(std::move(http)) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override { return {}; }
  std::unique_ptr<ModelSession> open_session() override {
    return std::make_unique<Session>(endpoint_, http_);
  }
  MicroUsd price(const Usage&) const override { return {}; }

 private:
  const std::string name_;
  const std::shared_ptr<const Endpoint> endpoint_;
  const std::shared_ptr<HttpClient> http_;
};

}  // namespace

std::shared_ptr<Model> make_model(Endpoint endpoint, std::shared_ptr<HttpClient> http) {
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  return std::make_shared<ChatModel>(std::move(endpoint), std::move(http));
}

}  // namespace praxis::chat

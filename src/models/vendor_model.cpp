#include "models/vendor_model.hpp"

#include <algorithm>
#include <utility>

#include "models/answer.hpp"
#include "models/answer_parser.hpp"
#include "models/rate_limit.hpp"
#include "models/redacting_sink.hpp"
#include "models/request_writer.hpp"
#include "redact/known_secrets.hpp"

namespace praxis {
namespace {

constexpr std::size_t kUsualHeaders = 4;                    // besides those of the endpoint
constexpr std::chrono::milliseconds kWholeAnswer{600'000};  // for the first byte of one that is not streamed

/// State of the endpoint, shared by its sessions and exchanges.
struct VendorShared {
  CodecTarget target;
  CodecPtr codec;
  Endpoint endpoint;
  std::shared_ptr<HttpClient> http;
  std::shared_ptr<RateGate> gate;  ///< null: no rate limiting
  std::shared_ptr<AnswerShapes> shapes = std::make_shared<AnswerShapes>();
  Redactor for_errors = {};
  std::shared_ptr<const Redactor> for_answers = nullptr;  ///< null: the endpoint has no secret
};

/// One exchange.
class VendorExchange final : public HttpSink {
 public:
  VendorExchange(std::shared_ptr<const VendorShared> shared, const RequestWriter& writer,
                 const ModelRequest& request, std::shared_ptr<ModelSink> sink)
      : shared_(std::move(shared)),
        writer_(writer),
        sink_(std::move(sink)),
        streams_(request.stream),
        parser_(*shared_->codec,
                {.deltas = request.stream ? sink_.get() : nullptr,
                 .call_prefix = "call_" + std::to_string(request.ordinal + 1) + '_',
                 .call_taken = [this](std::string_view id) { return writer_.knows_call(id); },
                 .shapes = shared_->shapes}) {}

  void on_head(const HttpResponseHead& head) override { parser_.head(head); }

  void on_body(std::string_view bytes) override {
    const std::size_t said = parser_.deltas();
    parser_.feed(bytes);
    if (streams_ && parser_.is_ok() && parser_.deltas() == said) sink_->on_delta(KeepAlive{});
  }

  void on_done(Status transport) override {
    auto response = parser_.finish(transport);
    learn(response);
    if (!response) {
      response.error() = describe(std::move(response.error()));
    } else if (response->usage.estimated) {
      response->usage = estimate_usage(writer_.estimated_input(), response->parts);
    }
    sink_->on_done(std::move(response));
  }

 private:
  void learn(const Result<ModelResponse>& response) const {
    if (!shared_->gate) return;
    std::optional<std::chrono::milliseconds> wait;
    if (!response && response.error().kind() == ErrorKind::kRateLimit) {
      wait = std::chrono::milliseconds(json_int(response.error().detail(), "retry_after_ms"));
    }
    shared_->gate->learn(parser_.headers(), wait);
  }

  Error describe(Error error) const {
    if (error.code == ErrorCode::kCancelled) return error;
    const Redactor& redactor = shared_->for_errors;
    error.message = redactor.without_cut_secrets(shared_->target.provider + ':' + shared_->target.model +
                                                 ": " + error.message + origin_of(error));
    if (!redactor.empty() && error.detail().is_object())
      error.facts = std::make_shared<const Json>(redactor.without_cut_secrets(error.detail()));
    return error;
  }

  /// Where the setting comes from that may have caused the error: the address or the key.
  std::string origin_of(const Error& error) const {
    const Endpoint& endpoint = shared_->endpoint;
    const ErrorKind kind = error.kind();
    const bool is_address =
        kind == ErrorKind::kNotFound || kind == ErrorKind::kNetwork || kind == ErrorKind::kProtocol;
    if (is_address && !endpoint.url_origin.empty())
      return "; the address is " + endpoint.base_url + ", from " + endpoint.url_origin;
    if (kind == ErrorKind::kAuth && !endpoint.key_origin.empty())
      return "; the key is from " + endpoint.key_origin;
    return "";
  }

  const std::shared_ptr<const VendorShared> shared_;
  const RequestWriter& writer_;  ///< owned by the session, which outlives its calls
  const std::shared_ptr<ModelSink> sink_;
  const bool streams_;
  AnswerParser parser_;
};

class Session final : public ModelSession {
 public:
  explicit Session(std::shared_ptr<const VendorShared> shared)
      : shared_(std::move(shared)), writer_(shared_->codec) {}

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    const Endpoint& endpoint = shared_->endpoint;
    if (shared_->for_answers) sink = redacting_sink(shared_->for_answers, std::move(sink));
    HttpRequest http;
    http.method = "POST";
    http.url = endpoint.base_url + shared_->codec->path(request.stream);
    http.headers.reserve(kUsualHeaders + endpoint.headers.size());
    http.headers.emplace_back("content-type", "application/json");
    http.headers.emplace_back("accept", request.stream ? "text/event-stream" : "application/json");
    if (!endpoint.key.empty()) {
      const bool bearer = endpoint.auth.empty() || endpoint.auth == "authorization";
      http.headers.emplace_back(bearer ? "authorization" : endpoint.auth,
                                bearer ? "Bearer " + endpoint.key : endpoint.key);
    }
    for (const auto& header : endpoint.headers) http.headers.push_back(header);
    for (auto& header : shared_->codec->headers(request)) http.headers.push_back(std::move(header));
    http.body = writer_.write(request);
    http.timeouts = endpoint.timeouts;
    if (!request.stream) http.timeouts.first_byte = std::max(http.timeouts.first_byte, kWholeAnswer);
    auto held = [sink](std::chrono::milliseconds expected) { sink->on_delta(HeldBack{expected}); };
    auto exchange = std::make_shared<VendorExchange>(shared_, writer_, request, std::move(sink));
    if (!shared_->gate) return shared_->http->send(std::move(http), std::move(exchange), std::move(stop));
    shared_->gate->pass(
        writer_.estimated_input(), stop,
        [client = shared_->http, http = std::move(http), exchange = std::move(exchange),
         stop](bool may_go) mutable {
          if (may_go) return client->send(std::move(http), std::move(exchange), std::move(stop));
          exchange->on_done(fail(ErrorCode::kCancelled, "cancelled"));
        },
        held);
  }

 private:
  const std::shared_ptr<const VendorShared> shared_;
  RequestWriter writer_;
};

class VendorModel final : public Model {
 public:
  explicit VendorModel(VendorShared shared)
      : name_(shared.target.provider + ':' + shared.target.model),
        shared_(std::make_shared<const VendorShared>(std::move(shared))) {}

  const std::string& name() const override { return name_; }
  ModelCapabilities capabilities() const override {
    const ModelFacts& facts = shared_->target.facts;
    return {.tools = facts.tools,
            // For an unknown model, let the server decide what it accepts.
            .images = facts.images || !facts.known,
            .files = facts.files || facts.images || !facts.known,
            .reasoning = facts.reasoning,
            .compaction = shared_->codec->compacts(),
            .context_window = facts.context_window,
            .max_output = facts.max_output,
            .counting = facts.counting};
  }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<Session>(shared_); }
  MicroUsd price(const Usage& usage) const override { return price_of(shared_->target.facts, usage); }

 private:
  const std::string name_;
  const std::shared_ptr<const VendorShared> shared_;
};

}  // namespace

std::shared_ptr<Model> vendor_model(CodecTarget target, CodecPtr codec, Endpoint endpoint,
                                    std::shared_ptr<HttpClient> http, std::shared_ptr<Executor> executor) {
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  std::vector<std::string> secrets = endpoint.secrets;
  secrets.push_back(endpoint.key);
  auto for_answers = std::make_shared<const Redactor>(unmistakable(secrets));
  return std::make_shared<VendorModel>(
      VendorShared{.target = std::move(target),
                   .codec = std::move(codec),
                   .endpoint = std::move(endpoint),
                   .http = std::move(http),
                   .gate = executor ? std::make_shared<RateGate>(std::move(executor)) : nullptr,
                   .for_errors = Redactor(secrets),
                   .for_answers = for_answers->empty() ? nullptr : std::move(for_answers)});
}

}  // namespace praxis

#include "app/secret_headers.hpp"

#include <algorithm>
#include <utility>

#include "app/plain_text.hpp"
#include "base/ascii.hpp"
#include "praxis/base/reach.hpp"

namespace praxis::app {
namespace {

bool is_this_machine(const Url& url) {
  return url.host == "localhost" || (url.is_address && (url.host.starts_with("127.") || url.host == "::1"));
}

class HeadersClient final : public HttpClient {
 public:
  HeadersClient(std::shared_ptr<HttpClient> http, std::shared_ptr<SecretBroker> secrets,
                std::vector<SecretHeader> headers)
      : http_(std::move(http)), secrets_(std::move(secrets)), headers_(std::move(headers)) {}

  void send(HttpRequest request, std::shared_ptr<HttpSink> sink, std::stop_token stop) override {
    if (auto added = add_to(request); !added)
      return sink->on_done(fail(with_reach(std::move(added.error()), Reach::kNotSent)));
    http_->send(std::move(request), std::move(sink), std::move(stop));
  }

 private:
  Status add_to(HttpRequest& request) const {
    const auto url = parse_url(request.url);
    if (!url) return {};  // the client says what is wrong
    for (const SecretHeader& header : headers_) {
      if (header.rule != nullptr && !header.rule->host_rules.allows(*url)) continue;
      std::string value = header.before;
      if (header.rule != nullptr) {
        if (url->scheme != "https" && !is_this_machine(*url))
          return fail(ErrorCode::kPolicy, "the secret " + in_quotes(header.rule->name) +
                                              " goes by https only, and the address begins with http://");
        auto secret = secrets_->hand_out(*header.rule);
        if (!secret) return fail(std::move(secret.error()));
        value += (*secret)->reveal();
      }
      const std::string name = lower_case(header.name);
      std::erase_if(request.headers, [&](const auto& other) { return lower_case(other.first) == name; });
      request.headers.emplace_back(header.name, std::move(value));
    }
    return {};
  }

  const std::shared_ptr<HttpClient> http_;
  const std::shared_ptr<SecretBroker> secrets_;
  const std::vector<SecretHeader> headers_;
};

}  // namespace

std::shared_ptr<HttpClient> http_with_headers(std::shared_ptr<HttpClient> http,
                                              std::shared_ptr<SecretBroker> secrets,
                                              std::vector<SecretHeader> headers) {
  return std::make_shared<HeadersClient>(std::move(http), std::move(secrets), std::move(headers));
}

}  // namespace praxis::app

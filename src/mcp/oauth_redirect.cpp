#include "mcp/oauth_redirect.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "mcp/oauth_text.hpp"
#include "net/http_server.hpp"

namespace praxis {
namespace {

constexpr std::string_view kCallback = "/callback";
constexpr std::size_t kMostWorkers = 1, kMostConnections = 32, kMostBody = 1024;

/// A page without anything of the request in it.
HttpAnswer page(int status, const char* text) {
  return {status,
          {{"Content-Type", "text/plain; charset=utf-8"},
           {"Cache-Control", "no-store"},
           {"Referrer-Policy", "no-referrer"},
           {"X-Content-Type-Options", "nosniff"}},
          text,
          true};
}

/// Compares in a time that depends on the length only.
bool is_same(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned differing = 0;
  for (std::size_t i = 0; i < one.size(); ++i) differing |= static_cast<unsigned char>(one[i] ^ other[i]);
  return differing == 0;
}

}  // namespace

class OauthRedirect::State {
 public:
  explicit State(std::string state) : state_(std::move(state)) {}

  /// Called on the I/O thread.
  HttpAnswer take(const ReceivedRequest& request) {
    const std::string_view target = request.target;
    const std::size_t end = std::min(target.find('?'), target.size());
    if (request.method != "GET" || target.substr(0, end) != kCallback)
      return page(404, "This address is for the answer to a login only.\n");
    auto fields = read_form(target.substr(std::min(end + 1, target.size())));
    if (!fields || !is_same((*fields)["state"], state_))
      return page(400, "This is not the answer to the login that Praxis waits for.\n");
    const std::lock_guard lock(mutex_);
    if (!answer_) answer_ = *std::move(fields);
    changed_.notify_all();
    return page(200, "Praxis has the answer. You can close this page.\n");
  }

  Result<OauthAnswer> wait(const std::stop_token& stop, std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, limit, [this] { return answer_.has_value(); });
    if (answer_) return *answer_;
    if (stop.stop_requested()) return fail(ErrorCode::kCancelled, "the login was stopped");
    return fail(ErrorCode::kTool, ErrorKind::kTimeout, "the login was not completed in the browser in time");
  }

  std::string address;
  std::unique_ptr<HttpServer> server;

 private:
  const std::string state_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<OauthAnswer> answer_;
};

OauthRedirect::OauthRedirect(std::shared_ptr<State> state) : state_(std::move(state)) {}
OauthRedirect::~OauthRedirect() { state_->server.reset(); }

Result<std::unique_ptr<OauthRedirect>> OauthRedirect::start(const std::string& state) {
  auto shared = std::make_shared<State>(state);
  HttpServerOptions options;
  options.max_connections = kMostConnections;
  options.bounds.body_bytes = kMostBody;
  const std::weak_ptr<State> weak = shared;
  auto server = HttpServer::start(make_executor(kMostWorkers), std::move(options),
                                  [weak](const ReceivedRequest& request, const HttpReply& reply) {
                                    if (const auto alive = weak.lock()) reply.send(alive->take(request));
                                  });
  if (!server) return fail(std::move(server.error()));
  shared->server = *std::move(server);
  shared->address = "http://127.0.0.1:" + std::to_string(shared->server->port()) + std::string(kCallback);
  return std::unique_ptr<OauthRedirect>(new OauthRedirect(std::move(shared)));
}

const std::string& OauthRedirect::address() const { return state_->address; }
Result<OauthAnswer> OauthRedirect::wait(const std::stop_token& stop, std::chrono::milliseconds limit) const {
  return state_->wait(stop, limit);
}

}  // namespace praxis

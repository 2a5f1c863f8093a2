#include "praxis/tools/http_tool.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "json/uri_reference.hpp"
#include "praxis/base/reach.hpp"
#include "praxis/tools/typed_tool.hpp"
#include "tools/host_rules.hpp"
#include "tools/trace_headers.hpp"

namespace praxis {

namespace {

constexpr const char* kHttpDescription =
    "Sends an HTTP request and returns status, content type and body. Only these hosts can be reached: ";

constexpr std::size_t kMaxShownBody = 64 * 1024;
constexpr int kMaxRedirects = 5;
constexpr int kMaxAttempts = 3;
constexpr std::chrono::milliseconds kFirstPause{200};

// The names go to the model, so they are spelled as in HTTP.
// NOLINTNEXTLINE(readability-identifier-naming)
enum class Method { GET, HEAD, POST, PUT, PATCH, DELETE };
PRAXIS_ENUM(Method, GET, HEAD, POST, PUT, PATCH, DELETE)

struct HttpToolRequest {
  arg<std::string, "Absolute http or https URL"> url;
  arg<std::optional<Method>, "GET if absent"> method;
  std::optional<std::map<std::string, std::string>> headers;
  std::optional<std::string> body;
  arg<std::optional<std::uint32_t>, "For the whole exchange; 30000 if absent"> timeout_ms;
};
PRAXIS_FIELDS(HttpToolRequest, url, method, headers, body, timeout_ms)

using Clock = std::chrono::steady_clock;

std::unexpected<Error> refused(std::string message) { return fail(ErrorCode::kPolicy, std::move(message)); }

/// Waits until the time has passed or a stop is requested.
void pause(std::chrono::milliseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
}

bool may_repeat(const std::string& method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

/// Whether a request only reads, so that sending it changes nothing on the other side.
bool only_reads(const std::string& method) { return method == "GET" || method == "HEAD"; }

bool may_pass(const Result<HttpResponse>& response) {
  if (!response) return response.error().retriable;
  const int status = response->status;
  return status == 429 || status == 502 || status == 503 || status == 504;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool same_origin(const Url& a, const Url& b) {
  return a.scheme == b.scheme && a.host == b.host && a.port == b.port;
}

/// Drops all headers that could hold a credential; only a few are known not to.
void drop_credentials(HttpHeaders& headers) {
  std::erase_if(headers, [](const auto& header) {
    const HttpHeaders one{header};
    return !find_header(one, "Accept") && !find_header(one, "Accept-Language") &&
           !find_header(one, "Content-Type");
  });
}

ToolOutput response_output(const HttpResponse& response) {
  const std::string type(find_header(response.headers, "Content-Type").value_or(""));
  const bool is_binary = response.body.find('\0') != std::string::npos;
  std::string text = "HTTP " + std::to_string(response.status) + "\n";
  if (!type.empty()) text += "content-type: " + type + "\n";
  text += "\n";
  if (is_binary) {
    text += "[" + std::to_string(response.body.size()) + " bytes that are not text; not shown]";
  } else {
    text += response.body.substr(0, kMaxShownBody);
    if (response.body.size() > kMaxShownBody) {
      text += "\n[" + std::to_string(response.body.size() - kMaxShownBody) + " more bytes; ask for less]";
    }
  }
  JsonObject headers;
  for (const auto& [name, value] : response.headers) headers[name] = repair_utf8(value);
  return {std::move(text),
          {{"status", response.status},
           {"headers", std::move(headers)},
           {"body", is_binary ? std::string() : repair_utf8(response.body)}},
          {},
          {}};
}

/// State shared by all calls of one tool. Thread-safe.
class Caller {
 public:
  Caller(std::shared_ptr<HttpClient> client, HostRules rules, const HttpToolOptions& options)
      : client_(std::move(client)),
        rules_(std::move(rules)),
        max_body_(options.max_body_bytes),
        use_proxy_(options.use_proxy),
        send_trace_(options.send_trace) {}

  Result<ToolOutput> run(const ToolContext& context, const HttpToolRequest& request) const {
    HttpRequest http;
    http.method = to_json_value(request.method.value_or(Method::GET)).get_string();
    http.url = request.url;
    if (request.headers) http.headers.assign(request.headers->begin(), request.headers->end());
    if (send_trace_) add_trace(http.headers, context.trace);
    if (request.body) http.body = std::make_shared<const std::string>(*request.body);
    http.max_body_bytes = max_body_;
    http.use_proxy = use_proxy_;
    auto until = Clock::now() + std::chrono::milliseconds(request.timeout_ms.value_or(30'000));
    if (context.deadline != Clock::time_point{}) until = std::min(until, context.deadline);

    bool changing = false;
    auto response = follow(std::move(http), until, context.stop, changing);
    if (response) return response_output(*response);
    Error error = std::move(response.error());
    if (error.code == ErrorCode::kModel) error.code = ErrorCode::kTool;
    // Counts for all requests of the call: an attempt may have had an effect though the next was not sent.
    if (const auto reach = reach_of(error); reach && *reach != Reach::kAnswered)
      error = with_reach(std::move(error), changing ? Reach::kSent : Reach::kNotSent);
    return fail(std::move(error));
  }

 private:
  /// `changing` becomes true once a part of a request that does more than read was sent.
  Result<HttpResponse> follow(HttpRequest request, Clock::time_point until, const std::stop_token& stop,
                              bool& changing) const {
    for (int redirects = 0;; ++redirects) {
      auto url = parse_url(request.url);
      if (!url) return fail(std::move(url.error()));
      if (!rules_.allows(*url)) {
        return refused("the host " + url->host + ":" + std::to_string(url->port) +
                       " is not on the list of allowed hosts");
      }
      request.allow_address = [this, url = *url](std::string_view address) {
        return rules_.allows_address(url, address);
      };
      auto response = exchange(request, until, stop, changing);
      if (!response || !is_redirect(response->status)) return response;
      const auto location = find_header(response->headers, "Location");
      if (!location) return response;
      if (redirects == kMaxRedirects) {
        return fail(ErrorCode::kTool, "more than five redirects");
      }
      if (auto status = redirect(request, *url, response->status, *location); !status) {
        return fail(std::move(status.error()));
      }
    }
  }

  /// Changes `request`, sent to `from`, into the one that the redirect requires.
  static Status redirect(HttpRequest& request, const Url& from, int status, std::string_view location) {
    request.url = resolve_uri(request.url, location);
    auto to = parse_url(request.url);
    if (!to) return fail(ErrorCode::kTool, "redirected to " + to.error().message);
    if (from.scheme == "https" && to->scheme == "http") {
      return refused("redirected from https to http, which is not followed");
    }
    if (!same_origin(from, *to)) drop_credentials(request.headers);
    const bool becomes_get =
        status == 303 ? request.method != "HEAD" : (status <= 302 && request.method == "POST");
    if (becomes_get) {
      request.method = "GET";
      request.body = nullptr;
    }
    return {};
  }

  Result<HttpResponse> exchange(HttpRequest request, Clock::time_point until, const std::stop_token& stop,
                                bool& changing) const {
    for (int attempt = 1;; ++attempt) {
      request.timeouts.total = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
      if (request.timeouts.total.count() <= 0) {
        return fail(with_reach(make_error(ErrorCode::kTool, "the request timed out", true), Reach::kNotSent));
      }
      auto response = http_fetch(*client_, request, stop);
      const bool sent = response || reach_of(response.error()) != Reach::kNotSent;
      changing = changing || (sent && !only_reads(request.method));
      if (attempt == kMaxAttempts || !may_repeat(request.method) || !may_pass(response)) return response;
      const auto delay = kFirstPause * attempt * attempt;
      if (Clock::now() + delay >= until) return response;
      pause(delay, stop);
    }
  }

  const std::shared_ptr<HttpClient> client_;
  const HostRules rules_;
  const std::size_t max_body_;
  const bool use_proxy_;
  const bool send_trace_;
};

}  // namespace

Result<Tool> http_tool(std::shared_ptr<HttpClient> client, HttpToolOptions options) {
  auto rules = HostRules::parse(options.allow_hosts);
  if (!rules) return fail(std::move(rules.error()));
  std::string description = kHttpDescription;
  for (const std::string& host : options.allow_hosts) description += host + " ";
  if (options.allow_hosts.empty()) description += "none";
  const auto caller = std::make_shared<const Caller>(std::move(client), std::move(*rules), options);
  Tool tool = make_tool("http", std::move(description),
                        [caller](ToolContext& context, const HttpToolRequest& request) {
                          return caller->run(context, request);
                        });
  tool.definition.safe_by_default = false;  // it changes external state: a rule must allow it
  tool.definition.timeout = std::chrono::minutes(2);
  return tool;
}

}  // namespace praxis

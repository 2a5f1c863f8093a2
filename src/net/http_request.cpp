#include "net/http_request.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace praxis {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

constexpr auto kTokenChars = [] {
  std::array<bool, 256> chars{};
  std::fill(chars.begin() + '0', chars.begin() + '9' + 1, true);
  std::fill(chars.begin() + 'A', chars.begin() + 'Z' + 1, true);
  std::fill(chars.begin() + 'a', chars.begin() + 'z' + 1, true);
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) chars[static_cast<unsigned char>(c)] = true;
  return chars;
}();

constexpr std::array<std::string_view, 6> kOwnHeaders = {"Host",       "Content-Length", "Transfer-Encoding",
                                                         "Connection", "Upgrade",        "Expect"};

}  // namespace

bool is_token(std::string_view text) {
  const auto is_token_char = [](char c) { return kTokenChars[static_cast<unsigned char>(c)]; };
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_field_value(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
}

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& header) { return same_name(header.first, name); });
  if (found == headers.end()) return std::nullopt;
  return found->second;
}

Status check_request(const HttpRequest& request) {
  if (!is_token(request.method)) return fail(ErrorCode::kInput, "the HTTP method is not a valid token");
  if (same_name(request.method, "CONNECT"))
    return fail(ErrorCode::kInput, "the HTTP method CONNECT is not supported");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name))
      return fail(ErrorCode::kInput, "a request header's name is empty or has forbidden characters");
    if (!is_field_value(value)) {
      return fail(ErrorCode::kInput,
                  "the value of request header " + name + " has line breaks or control characters");
    }
    const auto is_it = [&](std::string_view own) { return same_name(name, own); };
    if (std::ranges::any_of(kOwnHeaders, is_it)) {
      return fail(ErrorCode::kInput, "request header " + name + " is set by the client itself: leave it out");
    }
  }
  return {};
}

std::string authority(const Url& url) {
  const std::string host = url.ipv6 ? "[" + url.host + "]" : url.host;
  return host + ":" + std::to_string(url.port);
}

std::string host_header(const Url& url) {
  const int usual_port = url.scheme == "https" ? 443 : 80;
  if (url.port != usual_port) return authority(url);
  return url.ipv6 ? "[" + url.host + "]" : url.host;
}

void append_request_head(std::string& out, const HttpRequest& request, const Url& url, const Proxy* proxy,
                         const std::string& user_agent) {
  const std::string host = host_header(url);
  out.append(request.method).append(" ");
  if (proxy != nullptr) out.append(url.scheme).append("://").append(host);
  out.append(url.target).append(" HTTP/1.1\r\n");
  append_header(out, "Host", host);
  if (proxy != nullptr && !proxy->authorization.empty()) {
    append_header(out, "Proxy-Authorization", proxy->authorization);
  }
  if (!find_header(request.headers, "User-Agent")) append_header(out, "User-Agent", user_agent);
  for (const auto& [name, value] : request.headers) append_header(out, name, value);
  const bool may_have_body = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  if (request.body || may_have_body) {
    append_header(out, "Content-Length", std::to_string(request.body ? request.body->size() : 0));
  }
  out.append("\r\n");
}

void append_connect_head(std::string& out, const Url& url, const Proxy& proxy,
                         const std::string& user_agent) {
  out.append("CONNECT ").append(authority(url)).append(" HTTP/1.1\r\n");
  append_header(out, "Host", authority(url));
  append_header(out, "User-Agent", user_agent);
  if (!proxy.authorization.empty()) append_header(out, "Proxy-Authorization", proxy.authorization);
  out.append("\r\n");
}

}  // namespace praxis

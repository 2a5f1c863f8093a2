#include "net/egress_proxy_message.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "base/trimmed.hpp"
#include "net/http_request.hpp"

namespace praxis {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBlank = " \t";  // that may be around values

std::unexpected<EgressRefusal> malformed(std::string text) {
  return std::unexpected(EgressRefusal{400, std::move(text)});
}

// Removes and returns the text before `mark`, and removes `mark`; returns the whole text if there is no mark.
std::string_view take_until(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

// Returns `std::nullopt` if a line is not a header.
std::optional<HttpHeaders> parse_headers(std::string_view lines) {
  HttpHeaders headers;
  while (!lines.empty()) {
    const std::string_view line = take_until(lines, kLineEnd);
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !is_token(line.substr(0, colon))) return std::nullopt;
    const std::string_view value = trimmed(line.substr(colon + 1), kBlank);
    if (!is_field_value(value)) return std::nullopt;
    headers.emplace_back(line.substr(0, colon), value);
  }
  return headers;
}

bool has_header(const HttpHeaders& headers, std::string_view name) {
  return find_header(headers, name).has_value();
}

// Returns the lower-case names of hop-by-hop headers, including those that a Connection header lists.
std::vector<std::string> one_hop_names(const HttpHeaders& headers) {
  std::vector<std::string> names = {
      "connection",         "keep-alive", "proxy-connection", "proxy-authorization",
      "proxy-authenticate", "te",         "trailer",          "upgrade"};
  for (const auto& [name, value] : headers) {
    if (lower_case(name) != "connection") continue;
    for (std::string_view rest = value; !rest.empty();) {
      names.push_back(lower_case(trimmed(take_until(rest, ","), kBlank)));
    }
  }
  return names;
}

void append_all_but(std::string& out, const HttpHeaders& headers,
                    const std::vector<std::string>& lower_names) {
  for (const auto& [name, value] : headers) {
    const bool dropped = std::ranges::find(lower_names, lower_case(name)) != lower_names.end();
    if (!dropped) append_header(out, name, value);
  }
}

struct RequestLine {
  std::string_view method;
  std::string_view target;
  std::string_view version;
};

Egress<RequestLine> parse_request_line(std::string_view line) {
  RequestLine parts;
  parts.method = take_until(line, " ");
  parts.target = take_until(line, " ");
  parts.version = line;
  if (!is_token(parts.method) || (parts.version != "HTTP/1.1" && parts.version != "HTTP/1.0")) {
    return malformed("the request line is not: METHOD TARGET HTTP/1.1");
  }
  return parts;
}

// Parsed as an https URL, regardless of what the tunnel carries.
Egress<Url> parse_tunnel_target(std::string_view target) {
  const std::size_t colon = target.rfind(':');
  if (target.find_first_of("/?#") != target.npos || colon == target.npos || target.ends_with(':') ||
      target.ends_with(']')) {
    return malformed("CONNECT needs host:port and nothing else");
  }
  Result<Url> url = parse_url("https://" + std::string(target));
  if (!url) return malformed(url.error().message);
  return *std::move(url);
}

Egress<Url> parse_forward_target(std::string_view target) {
  Result<Url> url = parse_url(target);
  if (!url) return malformed(url.error().message);
  if (url->scheme != "http") return malformed("https goes through a tunnel: send CONNECT host:port");
  return *std::move(url);
}

// A body must have exactly one length, which no parser can read differently. Returns `std::nullopt` inside
// the result if there is no body.
Egress<std::optional<std::uint64_t>> parse_body_length(const HttpHeaders& headers) {
  const auto is_length = [](const auto& header) { return lower_case(header.first) == "content-length"; };
  const auto lengths = std::ranges::count_if(headers, is_length);
  if (has_header(headers, "Transfer-Encoding")) {
    if (lengths > 0) return malformed("Content-Length and Transfer-Encoding exclude each other");
    return std::unexpected(EgressRefusal{411, "the body of a request must come with its Content-Length"});
  }
  if (lengths == 0) return std::nullopt;
  const std::string_view text = *find_header(headers, "Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (lengths > 1 || error != std::errc{} || end != text.data() + text.size()) {
    return malformed("Content-Length must be one number");
  }
  return length;
}

Egress<EgressRequest> parse_forward(const RequestLine& line, const HttpHeaders& headers) {
  Egress<Url> url = parse_forward_target(line.target);
  if (!url) return std::unexpected(url.error());
  const auto length = parse_body_length(headers);
  if (!length) return std::unexpected(length.error());

  EgressRequest::Forward forward;
  forward.head.append(line.method).append(" ").append(url->target).append(" ").append(line.version);
  forward.head.append(kLineEnd);
  append_header(forward.head, "Host", host_header(*url));
  std::vector<std::string> dropped = one_hop_names(headers);
  dropped.insert(dropped.end(), {"host", "content-length"});
  append_all_but(forward.head, headers, dropped);
  if (*length) append_header(forward.head, "Content-Length", std::to_string(**length));
  append_header(forward.head, "Connection", "close");
  forward.head.append(kLineEnd);
  forward.body_bytes = length->value_or(0);
  return EgressRequest{*std::move(url), std::move(forward)};
}

// Passes the body on unchanged, so the headers that delimit it stay, even if the server lists them as
// hop-by-hop.
void append_answer_headers(std::string& out, const HttpHeaders& headers) {
  std::vector<std::string> dropped = one_hop_names(headers);
  std::erase_if(dropped, [](const std::string& name) {
    return name == "content-length" || name == "transfer-encoding";
  });
  append_all_but(out, headers, dropped);
}

// Parses `HTTP/1.1 200 Reason` into the status; `std::nullopt` for any other line.
std::optional<int> parse_status_line(std::string_view line) {
  if (!is_field_value(line)) return std::nullopt;
  const std::string_view version = take_until(line, " ");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return std::nullopt;
  const std::string_view code = take_until(line, " ");
  int status = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), status);
  if (error != std::errc{} || end != code.data() + code.size() || status < 100 || status > 599) {
    return std::nullopt;
  }
  return status;
}

}  // namespace

Egress<EgressRequest> parse_egress_request(std::string_view head) {
  const auto line = parse_request_line(take_until(head, kLineEnd));
  if (!line) return std::unexpected(line.error());
  const auto headers = parse_headers(head);
  if (!headers) return malformed("a line of the request is not: Name: value");
  if (line->method != "CONNECT") return parse_forward(*line, *headers);
  Egress<Url> url = parse_tunnel_target(line->target);
  if (!url) return std::unexpected(url.error());
  return EgressRequest{*std::move(url), std::nullopt};
}

std::string refusal_message(const EgressRefusal& refusal) {
  std::string message = "HTTP/1.1 " + std::to_string(refusal.status) + " " + refusal.text + "\r\n";
  append_header(message, "Content-Type", "text/plain");
  append_header(message, "Content-Length", std::to_string(refusal.text.size() + 1));
  append_header(message, "Connection", "close");
  return message + "\r\n" + refusal.text + "\n";
}

std::optional<std::string> EgressAnswer::pass(std::string_view bytes) {
  if (begun_) return std::string(bytes);
  held_ += bytes;
  std::string out;
  for (std::size_t end; !begun_ && (end = held_.find("\r\n\r\n")) != held_.npos;) {
    std::string_view head = std::string_view(held_).substr(0, end + kLineEnd.size());
    const std::string_view line = take_until(head, kLineEnd);
    const std::optional<int> status = parse_status_line(line);
    const auto headers = parse_headers(head);
    // 101 would leave HTTP, and the proxy forwards no Upgrade header that could have asked for it.
    if (!status || !headers || *status == 101) return std::nullopt;
    begun_ = *status >= 200;
    out.append(line).append(kLineEnd);
    append_answer_headers(out, *headers);
    if (begun_) append_header(out, "Connection", "close");
    out.append(kLineEnd);
    held_.erase(0, end + 4);
  }
  if (!begun_) return held_.size() > kMaxEgressHeadBytes ? std::nullopt : std::optional(std::move(out));
  return out + std::exchange(held_, {});
}

}  // namespace praxis

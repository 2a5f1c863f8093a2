// Arbitrary bytes as the head of a request to the egress proxy: an accepted head names one host that reads
// back unchanged, and the forwarded head is unambiguous.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/ascii.hpp"
#include "net/egress_proxy_message.hpp"

namespace {

using namespace praxis;

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find("\r\n");
  if (end == text.npos) std::abort();
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 2);
  return line;
}

bool has_control_byte(std::string_view line) {
  return std::ranges::any_of(
      line, [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; });
}

/// Checks for lines without control bytes, one Host, at most one length, and no start of another request.
void check_head(std::string_view head, const EgressRequest& request) {
  const std::string_view first = take_line(head);
  if (std::ranges::count(first, ' ') != 2 || has_control_byte(first)) std::abort();
  int hosts = 0, lengths = 0, closes = 0;
  for (std::string_view line; !(line = take_line(head)).empty();) {
    const std::size_t colon = line.find(':');
    if (colon == 0 || colon == line.npos || has_control_byte(line)) std::abort();
    const std::string name = lower_case(line.substr(0, colon));
    if (name == "transfer-encoding" || name == "upgrade" || name == "proxy-authorization") std::abort();
    hosts += name == "host";
    lengths += name == "content-length";
    closes += name == "connection";
    if (name == "content-length" && line.substr(colon + 2) != std::to_string(request.forward->body_bytes))
      std::abort();
  }
  if (!head.empty() || hosts != 1 || lengths > 1 || closes != 1) std::abort();
  if (lengths == 0 && request.forward->body_bytes != 0) std::abort();
}

void check_refusal(const EgressRefusal& refusal) {
  const std::string message = refusal_message(refusal);
  std::string_view head = message;
  if (refusal.status < 400 || refusal.status > 599 || has_control_byte(take_line(head))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = parse_egress_request({reinterpret_cast<const char*>(data), size});
  if (!request) return check_refusal(request.error()), 0;
  const Url& url = request->url;
  const std::string host = url.ipv6 ? '[' + url.host + ']' : url.host;
  const auto again = parse_url(url.scheme + "://" + host + ':' + std::to_string(url.port) + url.target);
  if (!again || again->host != url.host || again->port != url.port || again->target != url.target)
    std::abort();
  if (request->forward) check_head(request->forward->head, *request);
  return 0;
}

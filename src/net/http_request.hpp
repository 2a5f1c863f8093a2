// Writes the head of a request.
#pragma once

#include <string>
#include <string_view>

#include "net/http_proxy.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis {

/// Whether `text` is an HTTP token: a valid method or header name.
bool is_token(std::string_view text);
/// Whether `text` is a valid header value: no line breaks, no control characters.
bool is_field_value(std::string_view text);
/// Appends the header as one line.
void append_header(std::string& out, std::string_view name, std::string_view value);

/// Refuses a method or header that would break out of its place in the head, and headers that the client sets
/// itself. Error: `kInput`.
Status check_request(const HttpRequest& request);

/// `host`, or `host:port` when the port is not the scheme's own; IPv6 in brackets.
std::string host_header(const Url& url);
/// `host:port`; IPv6 in brackets.
std::string authority(const Url& url);

/// Appends request line and headers; uses the absolute form for a plain-http `proxy` (may be null).
void append_request_head(std::string& out, const HttpRequest& request, const Url& url, const Proxy* proxy,
                         const std::string& user_agent);
/// Appends the request that opens a tunnel to `url` through `proxy`.
void append_connect_head(std::string& out, const Url& url, const Proxy& proxy, const std::string& user_agent);

}  // namespace praxis

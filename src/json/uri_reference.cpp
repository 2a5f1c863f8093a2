#include "json/uri_reference.hpp"

#include <charconv>
#include <optional>

namespace praxis {

namespace {

// An absent component differs from an empty one: `?` alone replaces the base's query.
struct Uri {
  std::optional<std::string_view> scheme, authority, query, fragment;
  std::string_view path;
};

// Removes and returns the text before the first of `marks` at the front of `rest`.
std::string_view take_until(std::string_view& rest, std::string_view marks) {
  const std::string_view part = rest.substr(0, rest.find_first_of(marks));
  rest.remove_prefix(part.size());
  return part;
}

Uri split(std::string_view rest) {
  Uri uri;
  if (const auto end = rest.find_first_of(":/?#"); end != rest.npos && end > 0 && rest[end] == ':') {
    uri.scheme = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    uri.authority = take_until(rest, "/?#");
  }
  uri.path = take_until(rest, "?#");
  if (rest.starts_with('?')) {
    rest.remove_prefix(1);
    uri.query = take_until(rest, "#");
  }
  if (rest.starts_with('#')) uri.fragment = rest.substr(1);
  return uri;
}

std::string remove_dot_segments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t next = path.find('/', 1);
    const std::string_view segment = path.substr(0, next);
    path.remove_prefix(segment.size());
    const std::string_view name = segment.starts_with('/') ? segment.substr(1) : segment;
    if (name == "..") out.erase(out.rfind('/') == out.npos ? 0 : out.rfind('/'));
    if (name != "." && name != "..") {
      out += segment;
    } else if (path.empty()) {
      out += '/';
    }
  }
  return out;
}

std::string merge_paths(const Uri& base, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  return std::string(base.path.substr(0, base.path.rfind('/') + 1)) + std::string(path);
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~").contains(c);
}

}  // namespace

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  const Uri base = split(base_text);
  Uri uri = split(reference);
  std::string path(uri.path);
  if (!uri.scheme) {
    uri.scheme = base.scheme;
    if (!uri.authority) {
      uri.authority = base.authority;
      if (path.empty()) {
        path = base.path;
        if (!uri.query) uri.query = base.query;
      } else {
        path = remove_dot_segments(merge_paths(base, path));
      }
    }
  }
  std::string out;
  if (uri.scheme) out.append(*uri.scheme) += ':';
  if (uri.authority) out.append("//").append(*uri.authority);
  out += path;
  if (uri.query) out.append("?").append(*uri.query);
  if (uri.fragment) out.append("#").append(*uri.fragment);
  return out;
}

std::string percent_encode(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(c) || kept.contains(c)) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

std::string percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace praxis

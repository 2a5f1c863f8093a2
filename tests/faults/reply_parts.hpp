// The parts of replies: HTTP in its three framings.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bad_replies.hpp"

namespace praxis::faults::endpoint {

template <class T, std::size_t n>
const T& one_of(const T (&list)[n], Random& random) {
  return list[random.below(n)];
}

enum class Framing : std::uint8_t { kLength, kChunked, kUntilClose };

inline std::string head_of(Framing framing, std::size_t size, const std::string& type,
                           const std::string& more = {}) {
  std::string head = "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n" + more;
  if (framing == Framing::kLength) head += "Content-Length: " + std::to_string(size) + "\r\n";
  if (framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kUntilClose) head += "Connection: close\r\n";
  return head + "\r\n";
}

inline std::string chunk(std::string_view bytes) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

/// Returns the bytes unchanged, or as one to four chunks.
inline std::string framed(Framing framing, std::string_view bytes, Random& random) {
  if (framing != Framing::kChunked) return std::string(bytes);
  std::string out;
  while (!bytes.empty()) {
    const std::size_t size = random.once_in(3) ? bytes.size() : 1 + random.below(bytes.size());
    out += chunk(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return out;
}

inline Framing any_framing(Random& random) { return static_cast<Framing>(random.below(3)); }

inline Reply whole_reply(const std::string& body, const std::string& type, Random& random,
                         const std::string& more = {}) {
  const Framing framing = any_framing(random);
  std::string bytes = head_of(framing, body.size(), type, more) + framed(framing, body, random);
  if (framing == Framing::kChunked) bytes += "0\r\n\r\n";
  return {.pieces = {std::move(bytes)},
          .end = framing == Framing::kUntilClose ? Reply::End::kClose : Reply::End::kKeep};
}

inline Reply ends_badly(Reply reply, std::vector<std::string_view> kinds) {
  reply.hope = Hope::kBadly;
  reply.kinds = std::move(kinds);
  return reply;
}

}  // namespace praxis::faults::endpoint

// Arbitrary bytes as an HTTP response: where they are cut makes no difference, and no body exceeds its bound.
// The first byte determines the cuts.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "net/http_response_parser.hpp"

namespace {

using namespace praxis;
namespace http = boost::beast::http;

constexpr std::size_t kMaxBody = 1000;

struct Body final : HttpSink {
  void on_head(const HttpResponseHead&) override { std::abort(); }
  void on_body(std::string_view bytes) override { text += bytes; }
  void on_done(Status) override { std::abort(); }
  std::string text;
};

/// Feeds a parser as a connection does: prepends the unconsumed bytes to the next piece.
std::string read(std::string_view bytes, std::size_t piece) {
  Body body;
  ResponseParser parser(&body, kMaxBody);
  boost::beast::error_code error;
  std::string pending;
  while (!bytes.empty() && !parser.is_done() && (!error || error == http::error::need_more)) {
    pending += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    error = {};
    while (!pending.empty() && !parser.is_done() && !error)
      pending.erase(0, parser.put(boost::asio::const_buffer(pending.data(), pending.size()), error));
  }
  const bool waits = !error || error == http::error::need_more;
  if (waits && parser.is_header_done() && !parser.is_done()) parser.put_eof(error = {});
  if (body.text.size() > kMaxBody) std::abort();
  // Truncated invalid bytes may be either; and how much of a body came before them depends on the cut.
  if (!parser.is_header_done()) return "refused, or cut off";
  std::string said = std::to_string(parser.head().status);
  for (const auto& [name, value] : parser.head().headers) said += '\n' + name + ": " + value;
  return said + "\n\n" + (parser.is_done() ? body.text : "refused, or cut off");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read(bytes, size) != read(bytes, data[0] % 32 + 1)) std::abort();
  return 0;
}

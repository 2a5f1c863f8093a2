// Parses one HTTP/1.x request of a client that is not trusted. Beast reads the wire format behind this
// header, so that only one more source file is compiled with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "praxis/net/http_client.hpp"

namespace praxis {

/// A request as it was received.
struct ReceivedRequest {
  std::string method;
  std::string target;  ///< as sent: path and query, still encoded
  HttpHeaders headers;
  std::string body;
  bool keep_alive = true;       ///< the client may send another request on this connection
  bool is_http_1_0 = false;     ///< which knows no chunked answers
  bool wants_continue = false;  ///< it waits for `100 Continue` before it sends the body
};

/// What a request may take.
struct RequestBounds {
  std::size_t head_bytes = 32 * 1024;
  std::size_t headers = 100;
  std::size_t body_bytes = 16 * 1024 * 1024;
};

/// Feed it with `feed` until it is done or failed; one parser reads one request. What two readers could
/// understand in different ways is refused: repeated or contradictory lengths, codings other than `chunked`,
/// a missing or repeated Host, lines that continue the one before, line ends of one character.
class RequestParser {
 public:
  enum class State : std::uint8_t {
    kHead,  ///< the head is not complete
    kBody,  ///< the head is complete, the body is not
    kDone,
    kFailed,  ///< see `status` and `reason`
  };

  explicit RequestParser(const RequestBounds& bounds);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  /// Takes bytes and returns how many of them it used. Keep the others and feed them again with the bytes
  /// that follow, or to the next parser.
  std::size_t feed(std::string_view bytes);
  State state() const;
  /// Of a failed request: the status to answer with (400, 413, 417, 431), and what is wrong, for
  /// the client.
  int status() const;
  const std::string& reason() const;
  /// Complete once done; before that what has arrived.
  ReceivedRequest& request();

 private:
  class Beast;
  std::unique_ptr<Beast> beast_;
};

}  // namespace praxis

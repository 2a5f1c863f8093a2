// Who may talk to the server: the one place where a request meets a principal.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_request_parser.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"
#include "server/call.hpp"
#include "server/token_book.hpp"

namespace praxis::server {

/// What a server accepts. Thread-safe.
class Access {
 public:
  struct Rules {
    std::vector<Token> tokens;
    std::vector<std::string> hosts;  ///< names in `Host`, in lower case and without port; empty: any
    std::vector<std::string>
        origins;  ///< of pages of other hosts that may call, such as `https://example.org`
    AccessFiles files = {};
  };
  /// `book` has the tokens of the rules.
  Access(Rules rules, std::shared_ptr<TokenBook> book) : rules_(std::move(rules)), book_(std::move(book)) {}

  /// Checks `Host`, so that a page cannot reach the server by a name that it has resolved to this machine,
  /// and `Origin`, so that a page of another host cannot call it. The status of the error is 421 or 403.
  struct Refusal {
    int status;
    Error error;
  };
  std::optional<Refusal> refuse(const HttpHeaders& headers) const;
  /// The principal of the token in `Authorization`, or among the protocols of a request for a WebSocket.
  /// Errors of `TokenBook::principal_of`; `kPolicy`: there is no token.
  Result<Principal> principal_of(const HttpHeaders& headers) const;
  /// The status for such an error: 401, 403 if the token is valid but has no role, 503 if it cannot be judged
  /// at present.
  static int status_of(const Error& refusal);
  /// Whether an answer may name this origin in `Access-Control-Allow-Origin`.
  bool allows_origin(std::string_view origin) const;

 private:
  const Rules rules_;
  const std::shared_ptr<TokenBook> book_;
};

/// `host` of a `Host` header: lower case, without port and brackets; empty if the header is not valid.
std::string host_of(std::string_view header);

/// Reads the tokens of a file: each line is a token, which sees everything, or `NAME TOKEN`, which sees the
/// runs of NAME; `#` begins a comment. Creates the file, mode 0600, with a new token if it is missing. Errors
/// `kInput`: others can read or write it, a token of less than 20 characters, a repeated name.
struct TokenFile {
  std::vector<Token> tokens;
  std::string created;  ///< the new token, to be shown once; empty if the file existed
};
Result<TokenFile> read_tokens(const std::string& path, std::string_view new_token);

}  // namespace praxis::server

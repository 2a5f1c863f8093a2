// The page at `/`: files of web/ that scripts/build-page has compressed and packed into one. They hold no
// data, so a request for them needs no token.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "net/http_request_parser.hpp"
#include "net/http_server.hpp"
#include "praxis/base/result.hpp"

namespace praxis::server {

/// Immutable, so thread-safe.
class Page {
 public:
  /// Reads a pack: a line of JSON that lists the files, then their bytes. `pack` must outlive the page. A
  /// pack that is empty or not valid holds no files.
  explicit Page(std::string_view pack);

  /// Answers a request for a path: the file in the best encoding that the client takes, 304 if the client has
  /// it. Without files, `/` says how to build them. Error `kNotFound`: there is no such file.
  Result<HttpAnswer> answer(const std::string& path, const HttpHeaders& headers) const;
  /// The content of a file; empty if there is no such file.
  std::string_view text(std::string_view path) const;

 private:
  struct File {
    std::string type, etag;
    bool is_immutable = false;                                    ///< its name changes with its content
    std::map<std::string, std::string_view, std::less<>> bodies;  ///< by encoding: `br`, `gzip`, `identity`
  };
  std::map<std::string, File, std::less<>> files_;
};

/// The page of this program.
const Page& built_in_page();

}  // namespace praxis::server

#include "cli/server_token.hpp"

#include <algorithm>
#include <string_view>

#include "app/hints.hpp"
#include "app/own_folder.hpp"
#include "app/owned_file.hpp"
#include "net/socket_address.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::cli {
namespace {

constexpr std::size_t kMostTokenBytes = 64 * 1024;

/// The token of the owner in a file of tokens, else the first one.
Result<std::string> token_in(const std::string& file) {
  const auto text = app::read_owned_file(file, kMostTokenBytes);
  if (!text) return fail(app::with_hint(Error(text.error()), "praxis serve makes it at its first start"));
  std::string first;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::string(line);
    if (first.empty()) first = line.substr(space + 1);
  }
  if (first.empty()) return fail(app::usage_error("the token file " + file + " holds no token"));
  return first;
}

bool is_of_this_machine(const Url& url) {
  if (url.host == "localhost") return true;
  const auto address = SocketAddress::parse(url.host, url.port);
  return address && address->is_loopback();
}

}  // namespace

Result<std::string> local_token_file() {
  const auto folder = app::own_folder("XDG_STATE_HOME", ".local/state");
  if (folder.empty())
    return fail(app::usage_error("there is no home folder for the token", "name a file: --token-file FILE"));
  return (folder / "server-token").string();
}

Result<std::string> token_for(const std::string& url, const std::string& file) {
  if (!file.empty()) return token_in(file);
  if (std::string token = app::environment_variable("PRAXIS_TOKEN"); !token.empty()) return token;
  const auto parsed = parse_url(url);
  if (!parsed) return fail(parsed.error());
  if (!is_of_this_machine(*parsed)) {
    return fail(
        app::usage_error("no token for " + parsed->host + ": that of the local server is not sent to others",
                         "give --token-file FILE, or set PRAXIS_TOKEN"));
  }
  const auto local = local_token_file();
  if (!local) return fail(local.error());
  return token_in(*local);
}

}  // namespace praxis::cli

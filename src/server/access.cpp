#include "server/access.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "app/owned_file.hpp"
#include "base/ascii.hpp"
#include "base/private_folders.hpp"
#include "base/regular_file.hpp"
#include "base/write_all.hpp"
#include "server/event_channel.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kShortestToken = 20;
constexpr std::size_t kMostBytes = 64 * 1024;

/// The token of a request. A page cannot set headers of a WebSocket: it sends the token among its protocols.
std::optional<std::string> token_of(const HttpHeaders& headers) {
  const auto header = find_header(headers, "authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (!header) return socket_token(headers);
  if (lower_case(header->substr(0, kScheme.size())) != kScheme) return std::nullopt;
  return std::string(header->substr(kScheme.size()));
}

std::unexpected<Error> bad_line(const std::string& path, std::size_t line, const std::string& reason) {
  return fail(ErrorCode::kInput, path + ":" + std::to_string(line) + ": " + reason);
}

Status write_new(const std::string& path, std::string_view token) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (const int error = make_private_folders(folder); error != 0) {
    return fail(ErrorCode::kInput, "cannot make the folder " + folder.string() + ": " + std::strerror(error));
  }
  const FileDescriptor file = open_state_file(path, O_WRONLY | O_CREAT | O_EXCL);
  const std::string text = std::string(token) + "\n";
  const bool written = file.get() >= 0 && write_all(file.get(), text) == 0 && ::fsync(file.get()) == 0;
  if (written) return {};
  return fail(ErrorCode::kInput, "cannot write the token file " + path + ": " + std::strerror(errno));
}

Status check_private(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0 || (about.st_mode & 077U) == 0) return {};
  return fail(ErrorCode::kInput, "the token file " + path + " is open to others; chmod 600 it");
}

}  // namespace

std::string host_of(std::string_view header) {
  const std::string text = lower_case(header);
  const bool is_ipv6 = text.starts_with('[');
  const std::size_t end = is_ipv6 ? text.find(']') : std::min(text.find(':'), text.size());
  if (end == std::string::npos) return "";
  const std::string_view rest = std::string_view(text).substr(end + (is_ipv6 ? 1 : 0));
  const bool has_port = rest.starts_with(':') && rest.find_first_not_of("0123456789", 1) == rest.npos;
  if (!rest.empty() && !has_port) return "";
  return is_ipv6 ? text.substr(1, end - 1) : text.substr(0, end);
}

std::optional<Access::Refusal> Access::refuse(const HttpHeaders& headers) const {
  const auto host = find_header(headers, "host");
  const std::string name = host ? host_of(*host) : "";
  if (!rules_.hosts.empty() && std::ranges::find(rules_.hosts, name) == rules_.hosts.end()) {
    return Refusal{421, make_error(ErrorCode::kPolicy, "this server is not called \"" + name +
                                                           "\"; praxis serve --host NAME allows a name")};
  }
  const auto origin = find_header(headers, "origin");
  if (!origin) return std::nullopt;
  const bool is_own =
      host && (*origin == "http://" + std::string(*host) || *origin == "https://" + std::string(*host));
  if (is_own || allows_origin(*origin)) return std::nullopt;
  return Refusal{403,
                 make_error(ErrorCode::kPolicy,
                            "pages of another origin may not call; praxis serve --origin ORIGIN allows one")};
}

bool Access::allows_origin(std::string_view origin) const {
  return std::ranges::find(rules_.origins, origin) != rules_.origins.end();
}

Result<Principal> Access::principal_of(const HttpHeaders& headers) const {
  const auto text = token_of(headers);
  if (!text) return fail(ErrorCode::kPolicy, "a token is needed: Authorization: Bearer TOKEN");
  return book_->principal_of(*text);
}

int Access::status_of(const Error& refusal) {
  if (refusal.retriable) return 503;
  return json_text(refusal.detail(), "kind") == "no_role" ? 403 : 401;
}

Result<TokenFile> read_tokens(const std::string& path, std::string_view new_token) {
  TokenFile read;
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    if (auto written = write_new(path, new_token); !written) return fail(written.error());
    read.created = new_token;
  }
  if (auto closed = check_private(path); !closed) return fail(closed.error());
  auto text = app::read_owned_file(path, kMostBytes);
  if (!text) return fail(text.error());
  std::size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    const bool is_named = space != line.npos;
    const std::string name(is_named ? line.substr(0, space) : "owner");
    const std::string_view token = is_named ? line.substr(space + 1) : line;
    if (token.size() < kShortestToken || token.contains(' ')) {
      return bad_line(path, number, "a token has at least 20 characters and no blanks");
    }
    if (is_named && (name == "owner" || std::ranges::any_of(read.tokens, [&](const Token& t) {
                       return t.principal.name == name;
                     }))) {
      return bad_line(path, number, "the name \"" + name + "\" is taken");
    }
    read.tokens.push_back({digest_of(token), {name, !is_named}});
  }
  if (read.tokens.empty()) return fail(ErrorCode::kInput, "the token file " + path + " holds no token");
  return read;
}

}  // namespace praxis::server

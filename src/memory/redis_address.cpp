#include "memory/redis_address.hpp"

#include <charconv>
#include <cstdlib>
#include <optional>

#include "praxis/journal/postgres_journal.hpp"

namespace praxis {
namespace {

constexpr std::string_view kTcp = "redis://", kUnix = "redis+unix://", kTls = "rediss://";
constexpr int kMaxPort = 65535, kMaxDatabase = 1'000'000;

std::unexpected<Error> bad_redis_address(const std::string& why) {
  return fail(ErrorCode::kInput, "the address of the memory is wrong: " + why +
                                     "; it looks like redis://HOST:PORT/DATABASE or "
                                     "redis+unix:///PATH?db=DATABASE");
}

std::optional<int> number_up_to(std::string_view text, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc{} && end == text.data() + text.size() && number >= 0 && number <= most;
  return good ? std::optional(number) : std::nullopt;
}

/// `std::nullopt` for an escape that is cut or has other characters, and for a NUL.
std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      unsigned value = 0;
      const std::string_view digits = text.substr(at + 1, 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
      if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
      c = static_cast<char>(value);
      at += 2;
    }
    if (c == '\0') return std::nullopt;
    plain += c;
  }
  return plain;
}

/// Takes the part before the last `@` off `rest`.
Status take_login(std::string_view& rest, std::string_view end_of_login, RedisAddress& address) {
  const std::size_t at = rest.substr(0, rest.find_first_of(end_of_login)).rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view login = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    const std::size_t colon = login.find(':');
    auto user = unescaped(login.substr(0, colon));
    auto password = unescaped(colon == std::string_view::npos ? "" : login.substr(colon + 1));
    if (!user || !password) return bad_redis_address("the user or the password has a % without two digits");
    address.user = *std::move(user);
    address.password = *std::move(password);
  }
  const char* given = std::getenv("REDISCLI_AUTH");
  if (address.password.empty() && given != nullptr) address.password = given;
  if (!address.user.empty() && address.password.empty())
    return bad_redis_address("it names a user but no password, and REDISCLI_AUTH is not set");
  return {};
}

Status take_host(std::string_view rest, RedisAddress& address) {
  const std::size_t slash = rest.find('/');
  std::string_view place = rest.substr(0, slash);
  const std::string_view database = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  const bool is_v6 = place.starts_with('[') && place.contains(']');
  const std::string_view host =
      is_v6 ? place.substr(1, place.find(']') - 1) : place.substr(0, place.find(':'));
  place.remove_prefix(host.size() + (is_v6 ? 2 : 0));
  if (host.empty()) return bad_redis_address("it names no host");
  address.host = host;
  if (!place.empty()) {
    const auto port = place.starts_with(':') ? number_up_to(place.substr(1), kMaxPort) : std::nullopt;
    if (!port || *port == 0) return bad_redis_address("the port is no number from 1 to 65535");
    address.port = *port;
  }
  const auto number = database.empty() ? 0 : number_up_to(database, kMaxDatabase);
  if (!number) return bad_redis_address("the database is no number");
  address.database = *number;
  return {};
}

Status take_socket(std::string_view rest, RedisAddress& address) {
  const std::size_t query = rest.find('?');
  auto path = unescaped(rest.substr(0, query));
  if (!path || !path->starts_with('/')) return bad_redis_address("it names no absolute path of a socket");
  address.socket = *std::move(path);
  if (query == std::string_view::npos) return {};
  rest.remove_prefix(query + 1);
  const auto number = rest.starts_with("db=") ? number_up_to(rest.substr(3), kMaxDatabase) : std::nullopt;
  if (!number) return bad_redis_address("after the ? there is no db=NUMBER");
  address.database = *number;
  return {};
}

std::string shown_address(const RedisAddress& address) {
  const std::string user = address.user.empty() ? "" : address.user + '@';
  const std::string database = std::to_string(address.database);
  if (address.host.empty()) return std::string(kUnix) + user + address.socket + "?db=" + database;
  const bool is_v6 = address.host.contains(':');
  return std::string(kTcp) + user + (is_v6 ? '[' + address.host + ']' : address.host) + ':' +
         std::to_string(address.port) + '/' + database;
}

}  // namespace

bool is_redis_address(std::string_view place) {
  return place.starts_with(kTcp) || place.starts_with(kUnix) || place.starts_with(kTls);
}

bool is_memory_address(std::string_view place) {
  return is_redis_address(place) || is_postgres_address(place);
}

Result<RedisAddress> RedisAddress::parse(std::string_view text) {
  if (text.starts_with(kTls))
    return fail(ErrorCode::kInput,
                "a memory in Redis cannot be reached over TLS; reach the server by redis+unix:// or by "
                "redis:// in a network that you trust");
  const bool is_unix = text.starts_with(kUnix);
  if (!is_unix && !text.starts_with(kTcp)) return bad_redis_address("it is no address of Redis");
  text.remove_prefix(is_unix ? kUnix.size() : kTcp.size());
  RedisAddress address;
  Status read = take_login(text, is_unix ? "?" : "/", address);
  if (read) read = is_unix ? take_socket(text, address) : take_host(text, address);
  if (!read) return fail(std::move(read.error()));
  address.shown = shown_address(address);
  return address;
}

}  // namespace praxis

// The address of a memory in Redis.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

/// Whether `place` is an address of Redis: `redis://...` or `redis+unix://...`; also `rediss://...`, which
/// `RedisAddress::parse` refuses.
bool is_redis_address(std::string_view place);
/// Whether `place` is the address of a server that can keep a memory, instead of the name of a file.
bool is_memory_address(std::string_view place);

/// `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]` or `redis+unix://[USER:PASSWORD@]/PATH[?db=DATABASE]`.
/// Without a password there: that of the variable REDISCLI_AUTH, if it is set. User, password and path may
/// have escapes such as %40.
struct RedisAddress {
  std::string host;    ///< empty: `socket` is used
  int port = 6379;     ///< of the host
  std::string socket;  ///< a path
  std::string user, password;
  int database = 0;
  std::string shown;  ///< the address without the password, for messages

  /// Error `kInput`; the message does not repeat the address.
  static Result<RedisAddress> parse(std::string_view text);
};

}  // namespace praxis

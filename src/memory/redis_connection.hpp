// One connection to a Redis server, through hiredis. A connection is used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory/redis_address.hpp"
#include "praxis/base/result.hpp"

struct redisContext;  // NOLINT(readability-identifier-naming): of hiredis

namespace praxis {

struct HiredisLibrary;  // private: loaded when a memory in Redis is opened first

/// What a server answers, unless it is an error.
struct RedisReply {
  bool is_null = false;
  std::string text = {};
  std::int64_t number = 0;
  std::vector<RedisReply> items = {};
};

class RedisConnection {
 public:
  /// Loads hiredis, connects within ten seconds, logs in and chooses the database. Messages begin with
  /// `memory` and the address without its password. Error `io`.
  static Result<RedisConnection> open(const RedisAddress& address);

  /// Sends a command and waits for the answer, at most a minute. Errors `full`, `io`. An answer that is an
  /// error leaves the connection as it was; after any other error it is lost.
  Result<RedisReply> run(const std::vector<std::string_view>& command);
  /// Whether the connection cannot be used any more. Also looks whether the server has closed it.
  bool is_lost();
  /// Whether the server may have received all of the last command.
  bool has_sent() const { return has_sent_; }

 private:
  struct Free {
    const HiredisLibrary* library;
    void operator()(redisContext* context) const;
  };

  RedisConnection(const HiredisLibrary* library, redisContext* context, std::string subject)
      : library_(library), context_(context, Free{library}), subject_(std::move(subject)) {}
  Status log_in(const RedisAddress& address);
  Status send(const std::vector<std::string_view>& command);
  Result<RedisReply> receive();
  std::unexpected<Error> lost(const std::string& why);

  const HiredisLibrary* library_;
  std::unique_ptr<redisContext, Free> context_;
  std::string subject_;
  bool lost_ = false, has_sent_ = false;
};

}  // namespace praxis

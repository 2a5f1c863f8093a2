// A private Redis server for tests: in a temporary folder, reached by a Unix socket there. It writes each
// change to its disk before it answers.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/missing_part.hpp"
#include "memory/redis_connection.hpp"
#include "memory/testing/store_folder.hpp"

namespace praxis::testing {

class RedisServer {
 public:
  /// The server of this process; null if the machine has none.
  static RedisServer* shared() {
    static const std::unique_ptr<RedisServer> server = start_new();
    return server.get();
  }
  static std::unique_ptr<RedisServer> start_new(std::vector<std::string> options = {}) {
    if (access(kProgram, X_OK) != 0) return nullptr;
    std::unique_ptr<RedisServer> server(new RedisServer(std::move(options)));
    return server->start() ? std::move(server) : nullptr;
  }
  ~RedisServer() { stop(SIGKILL); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  const StoreFolder& folder() const { return folder_; }
  std::string socket() const { return folder_.file("redis.sock"); }
  /// The address of an empty database of its own.
  std::string new_database() { return "redis+unix://" + socket() + "?db=" + std::to_string(databases_++); }

  /// Starts the server and waits until it answers.
  bool start() {
    std::vector<std::string> arguments{kProgram,
                                       "--port",
                                       "0",
                                       "--unixsocket",
                                       socket(),
                                       "--dir",
                                       folder_.path(),
                                       "--save",
                                       "",
                                       "--appendonly",
                                       "yes",
                                       "--appendfsync",
                                       "always",
                                       "--databases",
                                       "1000",
                                       "--logfile",
                                       folder_.file("log")};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    pid_ = run(std::move(arguments));
    for (int tries = 0; tries < 3000; ++tries) {
      if (answers()) return true;
      if (waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      usleep(10'000);  // the server does not say when it is ready
    }
    return false;
  }
  /// Ends the server: SIGTERM in order, SIGKILL as a crash.
  void stop(int how) {
    if (pid_ <= 0) return;
    kill(pid_, how);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  /// SIGSTOP: the server does not answer until SIGCONT.
  void signal(int which) const { kill(pid_, which); }

 private:
  static constexpr const char* kProgram = "/usr/bin/redis-server";

  explicit RedisServer(std::vector<std::string> options) : options_(std::move(options)) {}

  /// Whether it answers. That it wants a password is an answer too.
  bool answers() const {
    auto connection = RedisConnection::open(RedisAddress::parse("redis+unix://" + socket()).value());
    if (!connection) return false;
    const auto pong = connection->run({"PING"});
    return pong || pong.error().message.contains("NOAUTH");
  }

  static pid_t run(std::vector<std::string> arguments) {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    execv(pointers[0], pointers.data());
    _exit(127);
  }

  const StoreFolder folder_;
  const std::vector<std::string> options_;
  pid_t pid_ = -1;
  int databases_ = 0;
};

}  // namespace praxis::testing

/// Ends the test if the machine has no Redis.
#define PRAXIS_NEED_REDIS()                                                           \
  do {                                                                                \
    if (::praxis::testing::RedisServer::shared() == nullptr)                          \
      PRAXIS_MISSING_PART("no Redis server (packages redis-server, libhiredis-dev)"); \
  } while (false)

// hiredis connects, writes commands and reads answers as values; the bytes are moved here, with deadlines and
// without SIGPIPE.
#include "memory/redis_connection.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "journal/chain.hpp"

#define PRAXIS_TEXT_OF_2(name) #name
#define PRAXIS_TEXT_OF(name) PRAXIS_TEXT_OF_2(name)

namespace praxis {

/// The functions of hiredis that a memory uses.
struct HiredisLibrary {
  decltype(&redisConnectWithTimeout) connect;
  decltype(&redisConnectUnixWithTimeout) connect_unix;
  decltype(&redisFree) free;
  decltype(&redisFormatCommandArgv) format;
  decltype(&redisFreeCommand) free_command;
  decltype(&redisReaderFeed) feed;
  decltype(&redisReaderGetReply) next_reply;
  decltype(&freeReplyObject) free_reply;
};

namespace {

using Clock = std::chrono::steady_clock;
constexpr timeval kConnectLimit{10, 0};
constexpr std::chrono::seconds kReplyLimit{60};  // of a server that neither answers nor fails

// Its structures differ between versions, so the library must be that of the header.
constexpr const char* kLibraryName = "libhiredis.so." PRAXIS_TEXT_OF(HIREDIS_SONAME);

Error hiredis_missing(const std::string& why) {
  return journal_error(ErrorKind::kIo, std::string("a memory in Redis needs the library ") + kLibraryName +
                                           " (on Debian 12 the package libhiredis0.14): " + why);
}

Result<const HiredisLibrary*> load_hiredis_now() {
  void* handle = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(hiredis_missing(dlerror()));
  static HiredisLibrary library;
  std::string missing;
  const auto find = [&]<class Function>(const char* name, Function& function) {
    void* found = dlsym(handle, name);
    if (found == nullptr && missing.empty()) missing = name;
    function = reinterpret_cast<Function>(found);
  };
  find("redisConnectWithTimeout", library.connect);
  find("redisConnectUnixWithTimeout", library.connect_unix);
  find("redisFree", library.free);
  find("redisFormatCommandArgv", library.format);
  find("redisFreeCommand", library.free_command);
  find("redisReaderFeed", library.feed);
  find("redisReaderGetReply", library.next_reply);
  find("freeReplyObject", library.free_reply);
  if (!missing.empty()) return fail(hiredis_missing("it lacks " + missing));
  return &library;
}

Result<const HiredisLibrary*> load_hiredis() {
  static const Result<const HiredisLibrary*> loaded = load_hiredis_now();
  return loaded;
}

/// Waits until the socket is ready for `events`, at most until `end`.
bool await_socket(int socket, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd one{socket, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

RedisReply value_of_reply(const redisReply& reply) {
  RedisReply value;
  value.is_null = reply.type == REDIS_REPLY_NIL;
  if (reply.str != nullptr) value.text.assign(reply.str, reply.len);
  if (reply.type == REDIS_REPLY_INTEGER) value.number = reply.integer;
  if (reply.type != REDIS_REPLY_ARRAY) return value;
  value.items.reserve(reply.elements);
  for (std::size_t i = 0; i < reply.elements; ++i) value.items.push_back(value_of_reply(*reply.element[i]));
  return value;
}

/// The error that a server answered.
Error answered_error(const std::string& subject, const std::string& text) {
  const std::string kind = text.substr(0, text.find(' '));
  if (kind == "OOM")
    return journal_error(ErrorKind::kFull, subject + ": the server has reached its maxmemory", true);
  std::string message = subject + ": " + text;
  if (kind == "NOAUTH" || kind == "WRONGPASS")
    message += "; the password is in the address, or in the variable REDISCLI_AUTH";
  return journal_error(ErrorKind::kIo, std::move(message), true);
}

}  // namespace

void RedisConnection::Free::operator()(redisContext* context) const { library->free(context); }

Result<RedisConnection> RedisConnection::open(const RedisAddress& address) {
  const auto library = load_hiredis();
  if (!library) return fail(library.error());
  redisContext* context = address.host.empty()
                              ? (*library)->connect_unix(address.socket.c_str(), kConnectLimit)
                              : (*library)->connect(address.host.c_str(), address.port, kConnectLimit);
  RedisConnection connection(*library, context, "memory " + address.shown);
  if (context == nullptr) return connection.lost("no memory for a connection");
  if (context->err != 0) return connection.lost(context->errstr);
  fcntl(context->fd, F_SETFD, FD_CLOEXEC);
  if (auto ready = connection.log_in(address); !ready) return fail(std::move(ready.error()));
  return connection;
}

Status RedisConnection::log_in(const RedisAddress& address) {
  Result<RedisReply> done = RedisReply{};
  if (!address.password.empty())
    done = address.user.empty() ? run({"AUTH", address.password})
                                : run({"AUTH", address.user, address.password});
  if (done && address.database != 0) done = run({"SELECT", std::to_string(address.database)});
  return done ? Status{} : fail(std::move(done.error()));
}

bool RedisConnection::is_lost() {
  // Between two commands a server sends nothing: what can be read is the end.
  lost_ = lost_ || await_socket(context_->fd, POLLIN, Clock::now());
  return lost_;
}

Result<RedisReply> RedisConnection::run(const std::vector<std::string_view>& command) {
  has_sent_ = false;
  if (auto sent = send(command); !sent) return fail(std::move(sent.error()));
  has_sent_ = true;
  return receive();
}

Status RedisConnection::send(const std::vector<std::string_view>& command) {
  std::vector<const char*> parts;
  std::vector<std::size_t> sizes;
  for (const std::string_view part : command) {
    parts.push_back(part.data() != nullptr ? part.data() : "");
    sizes.push_back(part.size());
  }
  char* text = nullptr;
  const int size = library_->format(&text, static_cast<int>(parts.size()), parts.data(), sizes.data());
  if (size < 0 || text == nullptr) return lost("no memory for a command");
  const auto free_command = [this](char* made) { library_->free_command(made); };
  const std::unique_ptr<char, decltype(free_command)> owned(text, free_command);
  std::string_view rest(text, static_cast<std::size_t>(size));
  auto end = Clock::now() + kReplyLimit;
  while (!rest.empty()) {
    if (!await_socket(context_->fd, POLLOUT, end)) return lost("the server does not answer");
    const ssize_t count = ::send(context_->fd, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return lost(std::strerror(errno));
    if (count <= 0) continue;
    rest.remove_prefix(static_cast<std::size_t>(count));
    end = Clock::now() + kReplyLimit;
  }
  return {};
}

Result<RedisReply> RedisConnection::receive() {
  std::array<char, 65536> bytes;
  void* got = nullptr;
  for (auto end = Clock::now() + kReplyLimit; got == nullptr; end = Clock::now() + kReplyLimit) {
    if (!await_socket(context_->fd, POLLIN, end)) return lost("the server does not answer");
    const ssize_t count = recv(context_->fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) return lost("the server has closed the connection");
    if (count < 0 && errno != EAGAIN && errno != EINTR) return lost(std::strerror(errno));
    if (count > 0) library_->feed(context_->reader, bytes.data(), static_cast<std::size_t>(count));
    if (library_->next_reply(context_->reader, &got) != REDIS_OK) return lost(context_->reader->errstr);
  }
  const auto free_reply = [this](redisReply* made) { library_->free_reply(made); };
  const std::unique_ptr<redisReply, decltype(free_reply)> reply(static_cast<redisReply*>(got), free_reply);
  RedisReply value = value_of_reply(*reply);
  if (reply->type == REDIS_REPLY_ERROR) return fail(answered_error(subject_, value.text));
  return value;
}

std::unexpected<Error> RedisConnection::lost(const std::string& why) {
  lost_ = true;
  return fail(journal_error(ErrorKind::kIo, subject_ + ": " + why, true));
}

}  // namespace praxis

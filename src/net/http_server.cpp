#include "net/http_server.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <netinet/tcp.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/event_loop.hpp"
#include "net/http_server_connection.hpp"
#include "net/socket_address.hpp"
#include "net/tls_files.hpp"

namespace praxis {
namespace {

constexpr std::chrono::milliseconds kRetryAccept{100};
constexpr int kBacklog = 1024;
constexpr std::size_t kTurnedAway = 256;  // connections beyond the bound that still get an answer

std::unexpected<Error> cannot_listen(const std::string& where, int error) {
  return fail(ErrorCode::kInput, "cannot listen on " + where + ": " + std::generic_category().message(error));
}

Result<FileDescriptor> listen_on_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path) || path.contains('\0')) {
    return fail(ErrorCode::kInput, "the path of a Unix socket has at most 107 bytes: " + path);
  }
  std::ranges::copy(path, address.sun_path);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return cannot_listen(path, errno);
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) {
    // A socket without a listener is left from a process that was killed.
    const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(probe.get(), name, sizeof(address)) != 0 && errno == ECONNREFUSED) ::unlink(path.c_str());
  }
  // The mode applies from the start: no other user can connect between bind and chmod.
  ::fchmod(socket.get(), 0600);
  if (::bind(socket.get(), name, sizeof(address)) != 0 || ::chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return cannot_listen(path, errno);
  }
  return socket;
}

Result<FileDescriptor> listen_on_address(const std::string& host, std::uint16_t port) {
  const std::string where = host + " port " + std::to_string(port);
  const auto address = SocketAddress::parse(host, port);
  if (!address) return fail(ErrorCode::kInput, host + " is not an IPv4 or IPv6 address to listen on");
  FileDescriptor socket(::socket(address->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return cannot_listen(where, errno);
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), address->data(), address->size()) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return cannot_listen(where, errno);
  }
  return socket;
}

/// systemd passes sockets that block, and that programs of the server would inherit.
Result<FileDescriptor> inherited(int descriptor) {
  FileDescriptor socket(descriptor);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
    return cannot_listen("the inherited descriptor " + std::to_string(descriptor), errno);
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

/// Accepts connections. Everything but `post` and `count` runs on the I/O thread.
class Listener final : public ConnectionHost,
                       public EventLoop::Watcher,
                       public std::enable_shared_from_this<Listener> {
 public:
  Listener(std::shared_ptr<Executor> executor, HttpServerOptions options, HttpHandler handler,
           FileDescriptor socket)
      : executor_(std::move(executor)),
        options_(std::move(options)),
        handler_(std::move(handler)),
        loop_(*event_loop_of(*executor_)),
        socket_(std::move(socket)) {}

  const HttpServerOptions& options() const override { return options_; }
  EventLoop& loop() override { return loop_; }
  Deadlines& deadlines() override { return deadlines_; }
  std::span<char> buffer() override { return buffer_; }
  bool draining() const override { return draining_; }
  void handle(ReceivedRequest request, HttpReply reply) override {
    handler_(std::move(request), std::move(reply));
  }
  void post(Task task) override { executor_->post(std::move(task)); }
  void forget(const ServerConnection& connection) override {
    connections_.erase(&connection);
    count_ = connections_.size();
  }

  std::size_t count() const { return count_; }
  std::uint16_t port() const { return port_; }

  void begin() {
    if (!loop_.watch(socket_.get(), *this)) return;
    watch_tls_files();
    accept_all();
  }
  void drain() {
    draining_ = true;
    stop_listening();
    for (const auto& connection : all()) connection->drain();
  }
  void end() {
    stop_listening();
    for (const auto& connection : all()) connection->close();
    deadlines_.stop();
    tls_files_.reset();
    executor_->cancel(retry_);
    handler_ = nullptr;
  }

 private:
  void on_ready(Readiness) override { accept_all(); }

  void watch_tls_files() {
    if (!options_.tls || options_.tls_certificate.empty()) return;
    tls_files_ = std::make_shared<TlsFiles>(
        executor_, TlsFiles::Places{options_.tls_certificate, options_.tls_key, options_.tls_look},
        [weak = weak_from_this()](std::shared_ptr<const ServerTls> tls) {
          if (const auto self = weak.lock()) self->options_.tls = std::move(tls);
        },
        options_.warn);
    tls_files_->start();
  }

  void accept_all() {
    while (socket_.get() >= 0) {
      FileDescriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (client.get() < 0) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        // Out of descriptors or memory: the client stays in the queue of the system.
        if (errno != EAGAIN)
          retry_ = executor_->after(kRetryAccept, [self = weak_from_this()] {
            if (const auto listener = self.lock()) listener->accept_all();
          });
        return;
      }
      admit(std::move(client));
    }
  }

  void admit(FileDescriptor client) {
    if (connections_.size() >= options_.max_connections + kTurnedAway) return;
    const int on = 1;
    if (port_ != 0) ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const bool has_place = connections_.size() < options_.max_connections;
    auto connection = std::make_shared<ServerConnection>(shared_from_this(), std::move(client));
    connections_.emplace(connection.get(), connection);
    count_ = connections_.size();
    has_place ? connection->start() : connection->turn_away();
  }

  void stop_listening() {
    if (socket_.get() < 0) return;
    loop_.unwatch(socket_.get(), *this);
    socket_.reset();
    if (!options_.socket_path.empty()) ::unlink(options_.socket_path.c_str());
  }

  std::vector<std::shared_ptr<ServerConnection>> all() const {
    std::vector<std::shared_ptr<ServerConnection>> out;
    for (const auto& [key, connection] : connections_) out.push_back(connection);
    return out;
  }

  const std::shared_ptr<Executor> executor_;
  HttpServerOptions options_;
  HttpHandler handler_;
  EventLoop& loop_;
  FileDescriptor socket_;
  const std::uint16_t port_ = port_of(socket_.get());
  Deadlines deadlines_{*executor_};
  std::vector<char> buffer_ = std::vector<char>(64 * 1024);
  std::unordered_map<const ServerConnection*, std::shared_ptr<ServerConnection>> connections_;
  std::atomic<std::size_t> count_ = 0;
  Executor::TimerId retry_ = 0;
  std::shared_ptr<TlsFiles> tls_files_;  ///< null: nothing to read again
  bool draining_ = false;
};

class ListeningServer final : public HttpServer {
 public:
  explicit ListeningServer(std::shared_ptr<Executor> executor, std::shared_ptr<Listener> listener)
      : executor_(std::move(executor)), listener_(std::move(listener)) {}
  // Waits, so that no handler runs after it.
  ~ListeningServer() override {
    std::promise<void> ended;
    executor_->post([&] {
      listener_->end();
      listener_.reset();
      ended.set_value();
    });
    ended.get_future().wait();
  }
  std::uint16_t port() const override { return listener_->port(); }
  void drain() override {
    executor_->post([listener = listener_] { listener->drain(); });
  }
  std::size_t connections() const override { return listener_->count(); }

 private:
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::shared_ptr<Executor>& executor,
                                                      HttpServerOptions options, HttpHandler handler) {
  if (event_loop_of(*executor) == nullptr)
    return fail(ErrorCode::kInternal, "this executor cannot wait for sockets");
  Result<FileDescriptor> socket = options.inherited_socket >= 0 ? inherited(options.inherited_socket)
                                  : options.socket_path.empty()
                                      ? listen_on_address(options.address, options.port)
                                      : listen_on_path(options.socket_path);
  if (!socket) return fail(socket.error());
  auto listener =
      std::make_shared<Listener>(executor, std::move(options), std::move(handler), *std::move(socket));
  executor->post([listener] { listener->begin(); });
  return std::make_unique<ListeningServer>(executor, std::move(listener));
}

}  // namespace praxis

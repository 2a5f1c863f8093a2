#include "net/egress_proxy.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/worker_pool.hpp"
#include "net/egress_proxy_connection.hpp"
#include "net/egress_proxy_dial.hpp"
#include "net/egress_proxy_wait.hpp"

namespace praxis {
namespace {

constexpr std::chrono::milliseconds kRetryAcceptProxy{100};
constexpr int kProxyBacklog = 128;
constexpr const char* kFolderPrefix = "praxis-";
constexpr const char* kSocketName = "/proxy";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::unexpected<Error> cannot(std::string_view what, const std::string& path) {
  return fail(ErrorCode::kTool, "the egress proxy cannot " + std::string(what) + " " + path + ": " +
                                    std::generic_category().message(errno));
}

Status check_path(const std::string& path) {
  const bool in_a_folder = path.starts_with('/') && !path.ends_with('/') && !folder_of(path).empty();
  if (in_a_folder && path.size() < sizeof(sockaddr_un::sun_path) && !path.contains('\0')) return {};
  return fail(
      ErrorCode::kInput,
      "the egress proxy's socket needs an absolute path of at most 107 bytes in a folder of its own, not " +
          path);
}

/// Whether a process listens on the socket; true also when that cannot be found out.
bool listens(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof(address.sun_path)) return true;
  std::ranges::copy(socket, address.sun_path);
  const FileDescriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (client.get() < 0) return true;
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
  return errno != ECONNREFUSED && errno != ENOENT;
}

/// Listens in a folder that it creates for the socket; the destructor removes both.
class ListeningProxy final : public EgressProxy {
 public:
  explicit ListeningProxy(EgressOptions options)
      : options_(std::move(options)),
        free_places_(static_cast<unsigned>(options_.max_connections)),
        workers_(options_.max_connections + 1) {}
  ~ListeningProxy() override {
    stop_.add_one();
    ::unlink(options_.socket_path.c_str());
    ::rmdir(folder_of(options_.socket_path).c_str());
  }

  Status listen();
  void run() {
    workers_.post([this] { accept_all(); });
  }
  const std::string& socket_path() const override { return options_.socket_path; }

 private:
  Status give_to(const EgressOptions::Owner& owner) const;
  void accept_all();

  const EgressOptions options_;
  FileDescriptor listener_;
  Resolver resolver_;
  PollableCount stop_;
  PollableCount free_places_;
  /// One worker accepts connections. The last member, so that its threads end first.
  WorkerPool workers_;
};

Status ListeningProxy::listen() {
  const std::string& path = options_.socket_path;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (stop_.fd() < 0 || free_places_.fd() < 0 || listener_.get() < 0) return cannot("open", path);
  // No other user can enter the folder yet, so the socket's mode may be set after bind.
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener_.get(), kProxyBacklog) != 0) {
    return cannot("listen on", path);
  }
  return options_.owner ? give_to(*options_.owner) : Status{};
}

// The folder stays ours, so that the owner can reach the socket but cannot replace it.
Status ListeningProxy::give_to(const EgressOptions::Owner& owner) const {
  const std::string& path = options_.socket_path;
  const std::string folder = folder_of(path);
  if (::chown(path.c_str(), owner.uid, owner.gid) != 0) return cannot("change the owner of", path);
  if (::chown(folder.c_str(), static_cast<uid_t>(-1), owner.gid) != 0 || ::chmod(folder.c_str(), 0710) != 0) {
    return cannot("set the permissions of", folder);
  }
  return {};
}

void ListeningProxy::accept_all() {
  const Patience patience{stop_.fd()};
  while (wait_for(free_places_.fd(), POLLIN, patience) == Wake::kReady &&
         wait_for(listener_.get(), POLLIN, patience) == Wake::kReady) {
    FileDescriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (client.get() < 0) {
      // Probably out of descriptors or memory: the client stays in the queue, so wait instead of spinning.
      if (errno != EAGAIN) wait_for(-1, 0, patience.within(kRetryAcceptProxy));
      continue;
    }
    free_places_.take_one();
    workers_.post([this, socket = std::move(client)]() mutable {
      EgressConnection(std::move(socket), options_, resolver_, stop_.fd()).serve();
      free_places_.add_one();
    });
  }
}

}  // namespace

void remove_ended_proxies(const std::string& folder, std::chrono::seconds least_age) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string(), socket = path + kSocketName;
    if (!entry.path().filename().string().starts_with(kFolderPrefix)) continue;
    struct stat about{};
    if (::lstat(path.c_str(), &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != ::geteuid())
      continue;
    if (std::chrono::seconds(::time(nullptr) - about.st_mtime) < least_age || listens(socket)) continue;
    // Removes nothing but an empty folder or one with that socket alone.
    if (::lstat(socket.c_str(), &about) == 0 && S_ISSOCK(about.st_mode)) ::unlink(socket.c_str());
    ::rmdir(path.c_str());
  }
}

std::string new_proxy_path(const std::string& folder, const std::string& id) {
  return folder + '/' + kFolderPrefix + id + kSocketName;
}

Result<std::unique_ptr<EgressProxy>> EgressProxy::start(EgressOptions options) {
  if (Status ok = check_path(options.socket_path); !ok) return fail(ok.error());
  const std::string folder = folder_of(options.socket_path);
  // The mode is set again, in case the umask took away our own rights.
  if (::mkdir(folder.c_str(), 0700) != 0 || ::chmod(folder.c_str(), 0700) != 0)
    return cannot("create the folder", folder);
  auto proxy = std::make_unique<ListeningProxy>(std::move(options));
  if (Status ok = proxy->listen(); !ok) return fail(ok.error());
  proxy->run();
  return proxy;
}

}  // namespace praxis

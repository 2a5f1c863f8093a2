// A proxy in front of a PostgreSQL server that cuts connections at exact points.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "journal/testing/remove_folder.hpp"

namespace praxis::testing {

class CuttingProxy {
 public:
  /// Listens on a Unix socket in a folder of its own; connects to the one in `server_folder`.
  explicit CuttingProxy(std::string server_folder) : server_(std::move(server_folder)) {
    std::string name = (std::filesystem::temp_directory_path() / "praxis-cut-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un place = address_in(folder_.string());
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        listen(listener_, 16) != 0)
      throw std::runtime_error("no socket for the proxy");
    thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
  }
  ~CuttingProxy() {
    thread_.request_stop();
    thread_.join();
    for (auto& pair : pairs_) pair.request_stop();
    pairs_.clear();
    close(listener_);
    remove_folder(folder_);
  }
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  std::string folder() const { return folder_.string(); }
  /// Cuts the next connection whose server confirms a commit, instead of passing the answer on.
  void cut_at_commit() { cut_ = true; }
  /// Cuts the next connection that prepares a commit, its first one, instead of passing that on.
  void cut_before_commit() { cut_before_ = true; }
  int cuts() const { return cuts_; }

 private:
  static sockaddr_un address_in(const std::string& folder) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    const std::string path = folder + "/.s.PGSQL.5432";
    std::memcpy(place.sun_path, path.c_str(), std::min(path.size() + 1, sizeof place.sun_path));
    return place;
  }

  void accept_all(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd input{listener_, POLLIN, 0};
      if (poll(&input, 1, 20) <= 0) continue;
      const int client = accept(listener_, nullptr, nullptr);
      const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_un place = address_in(server_);
      if (connect(server, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
        close(client);
        close(server);
        continue;
      }
      pairs_.emplace_back([this, client, server](const std::stop_token& end) { pass(client, server, end); });
    }
  }

  void pass(int client, int server, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::array<pollfd, 2> inputs = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
      if (poll(inputs.data(), inputs.size(), 20) <= 0) continue;
      if (inputs[0].revents != 0 && !forward(client, server, false)) break;
      if (inputs[1].revents != 0 && !forward(server, client, true)) break;
    }
    close(client);
    close(server);
  }

  bool forward(int from, int to, bool is_answer) {
    std::array<char, 65536> bytes;
    const ssize_t count = recv(from, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    const std::string_view got(bytes.data(), static_cast<std::size_t>(count));
    constexpr std::string_view kCommitted("COMMIT\0", 7);
    if (is_answer && got.find(kCommitted) != got.npos && cut_.exchange(false)) {
      ++cuts_;
      return false;
    }
    if (!is_answer && got.find(kCommitted) != got.npos && cut_before_.exchange(false)) {
      ++cuts_;
      return false;
    }
    return send(to, bytes.data(), got.size(), MSG_NOSIGNAL) == count;
  }

  const std::string server_;
  std::filesystem::path folder_;
  int listener_ = -1;
  std::atomic<bool> cut_ = false, cut_before_ = false;
  std::atomic<int> cuts_ = 0;
  std::list<std::jthread> pairs_;
  std::jthread thread_;
};

}  // namespace praxis::testing

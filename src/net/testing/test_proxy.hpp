// For tests of the egress proxy: a server that echoes and a proxy in a temporary folder.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/egress_proxy.hpp"
#include "net/testing/proxy_client.hpp"

namespace praxis {

class ProxyFolder {
 public:
  ProxyFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "egress-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ProxyFolder(const ProxyFolder&) = delete;
  ProxyFolder& operator=(const ProxyFolder&) = delete;
  ~ProxyFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Listens at a free port of this machine.
class LoopbackListener {
 public:
  LoopbackListener() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 128), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    target_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  /// Returns the next connection; -1 after `end`.
  int accept() const { return ::accept(listener_.get(), nullptr, nullptr); }
  void end() const { ::shutdown(listener_.get(), SHUT_RDWR); }
  /// `127.0.0.1:PORT`
  const std::string& target() const { return target_; }

 private:
  FileDescriptor listener_;
  std::string target_;
};

class EchoServer {
 public:
  EchoServer() : thread_([this] { accept(); }) {}
  EchoServer(const EchoServer&) = delete;
  EchoServer& operator=(const EchoServer&) = delete;
  ~EchoServer() {
    listener_.end();
    thread_.join();
  }
  const std::string& target() const { return listener_.target(); }

 private:
  void accept() {
    std::vector<std::thread> threads;
    for (int socket; (socket = listener_.accept()) >= 0;) {
      threads.emplace_back([client = std::make_shared<ProxyClient>(socket)] {
        for (std::string got; !(got = client->read_some()).empty();) {
          if (!client->send(got)) return;
        }
        client->send("bye");
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  LoopbackListener listener_;
  std::thread thread_;
};

// A proxy that allows everything on 127.0.0.1 unless the test configures it otherwise.
class TestProxy {
 public:
  explicit TestProxy(const std::function<void(EgressOptions&)>& adjust = {}) {
    EgressOptions options;
    options.socket_path = folder_ / "own/proxy.sock";
    options.rules.allows = [](const Url& url) { return url.host == "127.0.0.1" || url.host == "localhost"; };
    options.rules.allows_address = [](const Url&, std::string_view) { return true; };
    options.on_verdict = [this](const EgressVerdict& verdict) {
      std::lock_guard lock(mutex_);
      verdicts_.push_back(verdict);
    };
    if (adjust) adjust(options);
    auto started = EgressProxy::start(std::move(options));
    EXPECT_TRUE(started) << started.error().message;
    proxy_ = *std::move(started);
  }
  ProxyClient client() const { return ProxyClient(proxy_->socket_path()); }
  void stop() { proxy_.reset(); }
  std::string socket_path() const { return proxy_->socket_path(); }
  // One decision per line: `+ host:port` or `- host:port`.
  std::string verdicts() const {
    std::lock_guard lock(mutex_);
    std::string out;
    for (const EgressVerdict& one : verdicts_) {
      out += (one.allowed ? "+ " : "- ") + one.host + ":" + std::to_string(one.port) + "\n";
      EXPECT_EQ(one.allowed, one.reason.empty());
    }
    return out;
  }

 private:
  ProxyFolder folder_;
  mutable std::mutex mutex_;
  std::vector<EgressVerdict> verdicts_;
  std::unique_ptr<EgressProxy> proxy_;
};

}  // namespace praxis

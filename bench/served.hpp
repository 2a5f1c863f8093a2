// A server for a benchmark, on a journal in a temporary folder, and clients of it in processes of their own,
// so that their work does not count.
#pragma once

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/workspace.hpp"
#include "must.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/praxis.hpp"
#include "server/server.hpp"

namespace praxis::bench {

using Clock = std::chrono::steady_clock;
namespace beast = boost::beast;
using Tcp = boost::asio::ip::tcp;

inline constexpr const char* kToken = "token-of-the-server-bench";

inline double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// Lets this process open as many files as it may.
inline void allow_many_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// ---- the client

/// A connection to a server on this machine.
class Connection {
 public:
  explicit Connection(std::uint16_t port) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }

  void ask(const std::string& line, const std::string& body = {}) {
    std::string text = line + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + kToken +
                       "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    boost::asio::write(socket_, boost::asio::buffer(text));
  }
  /// The body of the next answer that states its length.
  std::string answer() {
    beast::http::response<beast::http::string_body> answer;
    beast::http::read(socket_, buffer_, answer);
    return std::move(answer.body());
  }
  /// Reads until `text` has come; what comes after it is for the next call.
  void read_until(std::string_view text) {
    std::array<char, 65536> more;
    std::size_t at = rest_.find(text);
    while (at == std::string::npos) {
      rest_.erase(0, rest_.size() - std::min(rest_.size(), text.size()));
      rest_.append(more.data(), socket_.read_some(boost::asio::buffer(more)));
      at = rest_.find(text);
    }
    rest_.erase(0, at + text.size());
  }
  int fd() { return socket_.native_handle(); }

 private:
  /// One for all connections: it needs descriptors, and nothing runs on it.
  static boost::asio::io_context& io() {
    static boost::asio::io_context context;
    return context;
  }

  Tcp::socket socket_{io()};
  beast::flat_buffer buffer_;
  std::string rest_;  ///< was read and not looked for yet
};

inline std::string new_run(std::uint16_t port, const std::string& agent) {
  Connection connection(port);
  connection.ask("POST /api/v1/runs", R"({"agent":")" + agent + R"(","prompt":"go"})");
  return json_string(must(parse_json(connection.answer())), "id");
}

/// Opens `count` event streams, on `paths` in turn, says `ready`, and reads until the server ends or all have
/// `last`.
inline int observe(std::uint16_t port, int count, const std::string& last,
                   const std::vector<std::string>& paths) {
  std::vector<std::unique_ptr<Connection>> all;
  const int queue = epoll_create1(0);
  for (int i = 0; i < count; ++i) {
    auto& made = all.emplace_back(std::make_unique<Connection>(port));
    made->ask("GET " + paths[static_cast<std::size_t>(i) % paths.size()]);
    made->read_until("\r\n\r\n");
    epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(i)}};
    epoll_ctl(queue, EPOLL_CTL_ADD, made->fd(), &event);
  }
  std::puts("ready");
  std::fflush(stdout);
  std::vector<std::string> ends(all.size());
  std::array<char, 65536> more;
  for (std::size_t open = all.size(); open > 0;) {
    epoll_event event{};
    if (epoll_wait(queue, &event, 1, 60'000) <= 0) return 1;
    const auto got = read(all[event.data.u32]->fd(), more.data(), more.size());
    std::string& end = ends[event.data.u32];
    if (got > 0) end.append(more.data(), static_cast<std::size_t>(got));
    if (got > 0 && !end.contains(last)) {
      end.erase(0, end.size() - std::min(end.size(), last.size()));
      continue;
    }
    epoll_ctl(queue, EPOLL_CTL_DEL, all[event.data.u32]->fd(), nullptr);
    --open;
  }
  return 0;
}

/// This program as a client in a process of its own.
class Client {
 public:
  explicit Client(const std::string& arguments)
      : pipe_(popen((std::filesystem::read_symlink("/proc/self/exe").string() + " " + arguments).c_str(),
                    "r")) {}
  ~Client() { finish(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void until_ready() { line(); }
  /// The next line that it prints, without its end.
  std::string line() {
    std::array<char, 16> line;
    if (std::fgets(line.data(), line.size(), pipe_) == nullptr)
      must<int>(fail(ErrorCode::kInternal, "a client failed"));
    std::string text = line.data();
    return text.substr(0, text.find('\n'));
  }
  void finish() {
    if (pipe_ != nullptr) pclose(std::exchange(pipe_, nullptr));
  }

 private:
  std::FILE* pipe_;
};

// ---- the server

/// A model that streams pieces when the benchmark lets it.
class PacedModel {
 public:
  explicit PacedModel(int pieces, std::chrono::microseconds between)
      : server_([this, pieces, between](const TestRequest&, TestConnection& to) {
          to.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
          while (!may_answer) std::this_thread::sleep_for(std::chrono::milliseconds(1));
          first_byte = Clock::now().time_since_epoch().count();
          for (int i = 0; i < pieces; ++i) {
            to.write(R"(data: {"choices":[{"index":0,"delta":{"content":"piece "}}]})"
                     "\n\n");
            std::this_thread::sleep_for(between);
          }
          to.write(
              "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: "
              "[DONE]\n\n");
          to.close();
        }) {
    setenv("OPENAI_BASE_URL", server_.url("/v1").c_str(), 1);
  }

  std::atomic<bool> may_answer = true;
  std::atomic<Clock::rep> first_byte = 0;

 private:
  TestServer server_;
};

class Place {
 public:
  Place() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_bench_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    setenv("NO_PROXY", "127.0.0.1", 1);
    std::filesystem::create_directories(folder_ / "config/praxis/agents");
    script("chat", R"({"text":"Hello there."})");
    agent("live", "compatible:m");
  }
  ~Place() {
    std::error_code ignored;  // a journal that is being closed removes its own files meanwhile
    std::filesystem::remove_all(folder_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  app::Workspace workspace(const std::string& journal) const {
    return must(app::open_workspace({.folder = "", .journal = (folder_ / journal).string()}));
  }
  std::unique_ptr<server::Server> serve(const std::string& journal) const {
    server::ServerOptions options;
    options.access.tokens = {{digest_of(kToken), {"owner", true}}};
    return must(server::Server::start(workspace(journal), std::move(options)));
  }

 private:
  void script(const std::string& name, const std::string& line) const {
    std::ofstream(folder_ / (name + ".jsonl")) << line << '\n';
    agent(name, "script:" + (folder_ / (name + ".jsonl")).string());
  }
  void agent(const std::string& name, const std::string& model) const {
    std::ofstream(folder_ / ("config/praxis/agents/" + name + ".toml")) << "model = \"" << model << "\"\n";
  }

  std::filesystem::path folder_;
};

}  // namespace praxis::bench

// Measures the server against floors in the same run: an answer against one of a bare Beast server, an event
// to many observers against one write, a whole run over HTTP against one in process, the time from the
// model's first byte to the client's first event, and the memory of an observer. Prints one line per figure.
// Clients are a second process, so that their work does not count.
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
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/open_runtime.hpp"
#include "must.hpp"
#include "net/testing/test_server.hpp"
#include "praxis/praxis.hpp"
#include "server/load.hpp"
#include "server/server.hpp"

namespace {

using namespace praxis;
using bench::must;
using Clock = std::chrono::steady_clock;
namespace beast = boost::beast;
using Tcp = boost::asio::ip::tcp;

constexpr const char* kToken = "token-of-the-server-bench";

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// CPU that this process has used, in seconds.
double cpu() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
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

std::string new_run(std::uint16_t port, const std::string& agent) {
  Connection connection(port);
  connection.ask("POST /api/v1/runs", R"({"agent":")" + agent + R"(","prompt":"go"})");
  return json_string(must(parse_json(connection.answer())), "id");
}

/// Opens `count` event streams, on `paths` in turn, says `ready`, and reads until the server ends or all have
/// `last`.
int observe(std::uint16_t port, int count, const std::string& last, const std::vector<std::string>& paths) {
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

/// Creates runs one after the other and follows each to its end.
int follow_runs(std::uint16_t port, int count, const std::string& agent) {
  for (int i = 0; i < count; ++i) {
    Connection events(port);
    events.ask("GET /api/v1/runs/" + new_run(port, agent) + "/events");
    events.read_until("event: turn.completed");
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

  void until_ready() {
    std::array<char, 16> line;
    if (std::fgets(line.data(), line.size(), pipe_) == nullptr)
      must<int>(fail(ErrorCode::kInternal, "a client failed"));
  }
  void finish() {
    if (pipe_ != nullptr) pclose(std::exchange(pipe_, nullptr));
  }

 private:
  std::FILE* pipe_;
};

// ---- the server

/// A model that streams pieces when the benchmark lets it.
class Model {
 public:
  explicit Model(int pieces, std::chrono::microseconds between)
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
    script("slow", R"({"text":"x","delay_ms":60000})");
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

// ---- the figures

/// Seconds for one answer over a kept connection.
double time_of_answer(std::uint16_t port, const std::string& path, int count) {
  Connection connection(port);
  const auto begun = Clock::now();
  for (int i = 0; i < count; ++i) {
    connection.ask("GET " + path);
    connection.answer();
  }
  return seconds_since(begun) / count;
}

/// The same from a bare Beast server whose answers have a body of `size` bytes.
double floor_of_answer(std::size_t size, int count) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  std::jthread thread([&] {
    Tcp::socket socket = acceptor.accept();
    beast::flat_buffer buffer;
    for (int i = 0; i < count; ++i) {
      beast::http::request<beast::http::string_body> request;
      beast::http::read(socket, buffer, request);
      beast::http::response<beast::http::string_body> answer{beast::http::status::ok, 11};
      answer.set(beast::http::field::content_type, "application/json");
      answer.body().assign(size, 'x');
      answer.prepare_payload();
      beast::http::write(socket, answer);
    }
  });
  return time_of_answer(acceptor.local_endpoint().port(), "/", count);
}

void answers(const Place& place) {
  constexpr int kCount = 5'000;
  const auto server = place.serve("answers.db");
  const std::string run = new_run(server->port(), "chat");
  Connection connection(server->port());
  connection.ask("GET /api/v1/runs/" + run + "/events");
  connection.read_until("event: turn.completed");
  Connection once(server->port());
  once.ask("GET /agent/" + run);
  const double floor = floor_of_answer(once.answer().size(), kCount);
  const double praxis = time_of_answer(server->port(), "/agent/" + run, kCount);
  std::printf("  GET /agent/:id: %.1f µs, %.1f x of a bare Beast answer (%.1f µs)\n", praxis * 1e6,
              praxis / floor, floor * 1e6);
}

/// CPU of this process for a run with `pieces` pieces and so many observers.
double cpu_of_observed(const Place& place, int pieces, int observers) {
  Model model(pieces, std::chrono::microseconds(500));
  model.may_answer = false;
  const auto server = place.serve("observed-" + std::to_string(observers) + ".db");
  const std::string run = new_run(server->port(), "live");
  Client client("observe " + std::to_string(server->port()) + " " + std::to_string(observers) +
                " 'event: turn.completed' /api/v1/runs/" + run + "/events");
  client.until_ready();
  const double begun = cpu();
  model.may_answer = true;
  client.finish();
  return cpu() - begun;
}

/// CPU for writing an event of this size to one socket.
double cpu_of_write(int count) {
  boost::asio::io_context io;
  Tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
  Client client("drain " + std::to_string(acceptor.local_endpoint().port()));
  Tcp::socket socket = acceptor.accept();
  const std::string event(250, 'x');
  const double begun = cpu();
  for (int i = 0; i < count; ++i) {
    boost::asio::write(socket, boost::asio::buffer(event));
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  const double used = cpu() - begun;
  socket.close();
  return used / count;
}

void observers(const Place& place) {
  constexpr int kPieces = 2'000, kObservers = 100;
  const double alone = cpu_of_observed(place, kPieces, 1),
               crowd = cpu_of_observed(place, kPieces, kObservers);
  const double each = (crowd - alone) / kPieces, floor = cpu_of_write(5'000);
  std::printf(
      "  a delta to %d observers: %.0f µs of CPU, %.0f x of writing it once (%.1f µs); the run alone %.0f "
      "µs\n",
      kObservers, each * 1e6, each / floor, floor * 1e6, alone / kPieces * 1e6);
}

void whole_runs(const Place& place) {
  constexpr int kRuns = 300;
  const app::Workspace workspace = place.workspace("inside.db");
  const auto runtime = must(app::open_runtime(workspace, {}));
  const Agent agent = Agent("", "").model(
      must(script_model(R"({"text":"Hello there."})", "bench", runtime->model_services().executor)));
  double begun = cpu();
  for (int i = 0; i < kRuns; ++i) must(runtime->run_once(agent, "go"));
  const double inside = (cpu() - begun) / kRuns;
  const auto server = place.serve("outside.db");
  begun = cpu();
  Client("runs " + std::to_string(server->port()) + " " + std::to_string(kRuns) + " chat").finish();
  const double outside = (cpu() - begun) / kRuns;
  std::printf("  a whole run: %.0f µs of CPU in process, %.0f µs over HTTP (created, streamed, finished)\n",
              inside * 1e6, outside * 1e6);
}

void first_event(const Place& place) {
  Model model(1, std::chrono::microseconds(0));
  const auto server = place.serve("first.db");
  std::vector<double> waits;
  for (int i = 0; i < 30; ++i) {
    model.may_answer = false;
    Connection events(server->port());
    events.ask("GET /api/v1/runs/" + new_run(server->port(), "live") + "/events");
    events.read_until("model.requested");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the stream is caught up
    model.may_answer = true;
    events.read_until("text.delta");
    waits.push_back(static_cast<double>(Clock::now().time_since_epoch().count() - model.first_byte) / 1e6);
    events.read_until("turn.completed");
  }
  std::ranges::sort(waits);
  std::printf(
      "  from the model's first byte to the client's first event: %.2f ms (median), %.2f ms (worst of %zu)\n",
      waits[waits.size() / 2], waits.back(), waits.size());
}

void memory_of_observers(const Place& place) {
  constexpr int kObservers = 10'000, kRuns = 100;
  const auto server = place.serve("many.db");
  std::string paths;
  for (int i = 0; i < kRuns; ++i) paths += " /api/v1/runs/" + new_run(server->port(), "slow") + "/events";
  const auto before = server::resident_memory();
  Client client("observe " + std::to_string(server->port()) + " " + std::to_string(kObservers) +
                " 'event: shutdown'" + paths);
  client.until_ready();
  std::printf("  an observer: %.1f KiB of memory, of %d on %d runs\n",
              static_cast<double>(server::resident_memory() - before) / kObservers / 1024, kObservers, kRuns);
  server->drain(std::chrono::milliseconds(0));
}

/// The work of a client process.
int client_main(const std::vector<std::string>& words) {
  const auto port = static_cast<std::uint16_t>(std::atoi(words.at(1).c_str()));
  if (words[0] == "observe")
    return observe(port, std::atoi(words.at(2).c_str()), words.at(3), {words.begin() + 4, words.end()});
  if (words[0] == "runs") return follow_runs(port, std::atoi(words.at(2).c_str()), words.at(3));
  Connection connection(port);  // drain
  std::array<char, 65536> more;
  while (read(connection.fd(), more.data(), more.size()) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty()) return client_main(words);
  const Place place;
  answers(place);
  observers(place);
  whole_runs(place);
  first_event(place);
  memory_of_observers(place);
}

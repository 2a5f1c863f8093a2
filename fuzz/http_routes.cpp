// Arbitrary requests to the whole table of routes of the server, without sockets. None makes it fail (5xx,
// but for what may work later), each refusal is a JSON document, and what is refused leaves nothing in the
// journal.
//
// An input is text: `METHOD TARGET`, lines of headers, an empty line and the body. `$RUN`, `$WAITS`, `$RESP`,
// `$CONV` and `$ITEM` stand for ids that exist.
#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/reply_queue.hpp"
#include "praxis/json/json.hpp"
#include "server/server.hpp"

namespace {

using namespace praxis;

constexpr std::string_view kToken = "token-of-the-fuzzer";
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::seconds kTurnTime{3};
constexpr int kInputsOfAServer = 500;  // then it begins again with an empty journal

struct Given {
  int status = 0;
  std::string head, body;
  bool ended = false;  ///< false: a stream, whose beginning this is
};

[[noreturn]] void complain(const std::string& what, const ReceivedRequest& request, const Given& answer) {
  std::fprintf(stderr, "%s: %s %s\n%s\nanswer: %s\n%s\n", what.c_str(), request.method.c_str(),
               request.target.c_str(), request.body.c_str(), answer.head.c_str(), answer.body.c_str());
  std::abort();
}

/// Collects the bytes of one answer.
class Client {
 public:
  HttpReply reply() {
    queue_ = std::make_shared<ReplyQueue>(ReplyQueue::Question{}, [woken = woken_] { woken->wake(); });
    return HttpReply(queue_);
  }
  /// Waits for the whole answer, or for the beginning of a stream. Nothing: it never came.
  std::optional<Given> read() {
    Given answer;
    std::string all;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!answer.ended) {
      const Outgoing next = queue_->take();
      for (const SharedBytes& bytes : next.bytes) all += *bytes;
      answer.ended = next.finished;
      if (!answer.ended && queue_->streams() && all.contains("\r\n\r\n")) break;
      if (!answer.ended && next.bytes.empty() && !woken_->wait(until)) return std::nullopt;
    }
    queue_->leave();
    const std::size_t split = std::min(all.find("\r\n\r\n"), all.size());
    answer.status = all.size() > 12 ? std::atoi(all.c_str() + 9) : 0;
    answer.head = all.substr(0, split);
    if (split + 4 <= all.size()) answer.body = all.substr(split + 4);
    return answer;
  }

 private:
  struct Woken {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_set = false;

    void wake() {
      const std::lock_guard lock(mutex);
      is_set = true;
      changed.notify_all();
    }
    bool wait(std::chrono::steady_clock::time_point until) {
      std::unique_lock lock(mutex);
      const bool in_time = changed.wait_until(lock, until, [&] { return is_set; });
      is_set = false;
      return in_time;
    }
  };
  std::shared_ptr<Woken> woken_ = std::make_shared<Woken>();
  std::shared_ptr<ReplyQueue> queue_;
};

/// A server on a journal in a temporary folder, with one run of each kind.
class Served {
 public:
  Served() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_fuzz_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    for (const char* variable : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOME"})
      setenv(variable, folder_.c_str(), 1);
    agent("chat", R"({"text":"Hello there."})", "");
    agent("ask", R"({"tool_calls":[{"name":"kv","arguments":{"op":"get","key":"k"}}]})",
          "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
    // No run may reach the network.
    std::ofstream(folder_ / "praxis/config.toml")
        << "model = \"script:" << (folder_ / "chat.jsonl").string() << "\"\n";
    auto workspace = app::open_workspace({.folder = "", .journal = (folder_ / "runs.db").string()});
    if (!workspace) std::abort();
    auto journal = sqlite_journal((folder_ / "runs.db").string());
    if (!journal) std::abort();
    journal_ = *std::move(journal);
    server::ServerOptions options;
    options.http.socket_path = (folder_ / "socket").string();
    options.access.tokens = {{digest_of(kToken), {"owner", true}}};
    options.access.hosts = {"localhost"};
    auto started = server::Server::start(*std::move(workspace), std::move(options));
    if (!started) std::abort();
    server_ = *std::move(started);
    fill();
  }
  ~Served() {
    server_.reset();
    journal_.reset();
    await_closed_journals(kPatience);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  Given ask(ReceivedRequest request) {
    Client client;
    server_->take(request, client.reply());
    auto answer = client.read();
    if (!answer) complain("no answer", request, {});
    return *std::move(answer);
  }
  /// Waits until no turn works any more; returns the sessions of the journal with the lengths of their logs.
  /// Nothing: one works for long, such as one that is paused.
  std::optional<std::map<SessionId, std::uint64_t>> rest() {
    const auto until = std::chrono::steady_clock::now() + kTurnTime;
    std::map<SessionId, std::uint64_t> lengths;
    for (bool works = true; works;) {
      const auto rows = journal_->sessions();
      if (!rows) std::abort();
      lengths.clear();
      for (const SessionRow& row : *rows) lengths.emplace(row.id, row.entries);
      works = std::ranges::any_of(*rows, [](const SessionRow& row) {
        return row.held && row.status == to_string(SessionStatus::kRunning);
      });
      if (works && std::chrono::steady_clock::now() > until) return std::nullopt;
      if (works) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return lengths;
  }
  /// Puts ids that exist in place of their names.
  std::string filled(std::string text) const {
    for (const auto& [name, id] : ids_) {
      for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + id.size()))
        text.replace(at, name.size(), id);
    }
    return text;
  }

 private:
  void agent(const std::string& name, const std::string& script, const std::string& more) {
    const auto path = folder_ / (name + ".jsonl");
    std::ofstream(path) << script << '\n' << script << '\n';
    std::filesystem::create_directories(folder_ / "praxis/agents");
    std::ofstream(folder_ / ("praxis/agents/" + name + ".toml"))
        << "model = \"script:" << path.string() << "\"\n"
        << more;
  }
  Json made(const std::string& path, const std::string& body) {
    ReceivedRequest request;
    request.method = "POST";
    request.target = path;
    request.headers = {{"Host", "localhost"}, {"Authorization", "Bearer " + std::string(kToken)}};
    request.body = body;
    const Given answer = ask(request);
    if (answer.status >= 300) complain("no seed", request, answer);
    return parse_json(answer.body).value_or(nullptr);
  }
  void fill() {
    ids_.emplace_back("$RUN", json_string(made("/api/v1/runs", R"({"agent":"chat","prompt":"hi"})"), "id"));
    ids_.emplace_back("$WAITS", json_string(made("/api/v1/runs", R"({"agent":"ask","prompt":"hi"})"), "id"));
    const std::string conversation =
        json_string(made("/v1/conversations", R"({"items":[{"role":"user","content":"hi"}]})"), "id");
    ids_.emplace_back("$CONV", conversation);
    ids_.emplace_back(
        "$RESP", json_string(made("/v1/responses",
                                  R"({"model":"chat","input":"hi","conversation":")" + conversation + "\"}"),
                             "id"));
    ids_.emplace_back("$ITEM", json_string(made("/v1/conversations/" + conversation + "/items",
                                                R"({"items":[{"role":"user","content":"hi"}]})"),
                                           "first_id"));
  }

  std::filesystem::path folder_;
  std::shared_ptr<Journal> journal_;
  std::unique_ptr<server::Server> server_;
  std::vector<std::pair<std::string, std::string>> ids_;
};

/// The next line, without its end.
std::string line_of(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

ReceivedRequest request_of(std::string_view text, const Served& served) {
  ReceivedRequest request;
  const std::string first = line_of(text);
  const std::size_t space = std::min(first.find(' '), first.size());
  request.method = first.substr(0, space);
  request.target = served.filled(first.substr(std::min(space + 1, first.size())));
  for (std::string line = line_of(text); !line.empty(); line = line_of(text)) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    request.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
  }
  if (!find_header(request.headers, "host")) request.headers.emplace_back("Host", "localhost");
  if (!find_header(request.headers, "authorization"))
    request.headers.emplace_back("Authorization", "Bearer " + std::string(kToken));
  request.body = served.filled(std::string(text));
  return request;
}

void check(const ReceivedRequest& request, const Given& answer, bool is_unchanged) {
  if (answer.status < 100 || answer.status > 599) complain("no status", request, answer);
  if (answer.status >= 500 && answer.status != 501 && answer.status != 503) complain("5xx", request, answer);
  if (answer.status < 400) return;
  if (request.method != "HEAD" && !parse_json(answer.body))
    complain("a refusal is not JSON", request, answer);
  if (!is_unchanged) complain("a refusal left something in the journal", request, answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::unique_ptr<Served> served;
  static int inputs = 0;
  if (inputs++ % kInputsOfAServer == 0) {
    served.reset();
    served = std::make_unique<Served>();
  }
  const ReceivedRequest request = request_of({reinterpret_cast<const char*>(data), size}, *served);
  const auto before = served->rest();
  const Given answer = served->ask(request);
  const auto after = answer.status < 400 ? before : served->rest();
  check(request, answer, !before || !after || *before == *after);
  if (!before || !after) inputs = 0;
  return 0;
}

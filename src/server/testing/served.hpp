// A server on a journal in a temporary folder, with agents that need no key, and a client of it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "journal/testing/remove_folder.hpp"
#include "net/testing/raw_client.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/json/json.hpp"
#include "server/server.hpp"

namespace praxis::server::testing {

using praxis::testing::RawClient;

inline constexpr std::string_view kOwner = "owner-token-of-the-tests";
inline constexpr std::string_view kAnna = "anna-token-of-the-tests";
inline constexpr std::string_view kBert = "bert-token-of-the-tests";

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
  Json json = nullptr;

  std::string text(std::string_view key) const { return json_string(json, key); }
};

/// One server-sent event.
struct Sent {
  std::string id, event, data;
  bool operator==(const Sent&) const = default;
};

/// The events in the body of an answer.
inline std::vector<Sent> events_in(std::string_view answer) {
  std::vector<Sent> all;
  const std::size_t start = answer.find("\r\n\r\n");
  if (start == answer.npos) return all;
  answer.remove_prefix(start + 4);
  Sent next;
  while (true) {
    const std::size_t end = answer.find('\n');
    if (end == answer.npos) return all;
    const std::string_view line = answer.substr(0, end);
    answer.remove_prefix(end + 1);
    if (line.starts_with("id: ")) next.id = line.substr(4);
    if (line.starts_with("event: ")) next.event = line.substr(7);
    if (line.starts_with("data: ")) next.data = line.substr(6);
    if (line.empty() && !next.data.empty()) all.push_back(std::exchange(next, {}));
  }
}

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    std::string name = (std::filesystem::temp_directory_path() / "praxis_serve_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    script("chat", R"({"text":"Hello there.","chunk":4})");
    script("slow", R"({"text":"At last.","delay_ms":60000})");
    agent("chat", "");
    agent("slow", "");
  }
  ~ServerTest() override {
    server_.reset();
    EXPECT_TRUE(await_closed_journals(std::chrono::minutes(1))) << "what is left of the server lives on";
    praxis::testing::remove_folder(folder_);
  }

  void script(const std::string& name, const std::string& lines) {
    std::ofstream(folder_ / (name + ".jsonl")) << lines << '\n';
  }
  /// An agent whose model is the script of the same name, unless another is given.
  void agent(const std::string& name, const std::string& toml, const std::string& model = {}) {
    std::filesystem::create_directories(folder_ / "config/praxis/agents");
    std::ofstream(folder_ / ("config/praxis/agents/" + name + ".toml"))
        << "model = \"" << (model.empty() ? "script:" + (folder_ / (name + ".jsonl")).string() : model)
        << "\"\n"
        << toml;
  }
  /// An agent that asks before its only call, of `kv`, and then answers.
  void asking_agent() {
    script("ask",
           "{\"text\":\"May "
           "I?\",\"tool_calls\":[{\"name\":\"kv\",\"arguments\":{\"op\":\"put\",\"key\":\"k\",\"value\":"
           "\"v\"}}]}\n"
           "{\"text\":\"Done.\"}");
    agent("ask", "[tools.kv]\n[policy]\nask = [\"kv\"]\n");
  }

  void start(ServerOptions options = {}) { start_on((folder_ / "runs.db").string(), std::move(options)); }
  void start_on(const std::string& journal, ServerOptions options = {}) {
    auto workspace = app::open_workspace({.folder = "", .journal = journal});
    ASSERT_TRUE(workspace) << workspace.error().message;
    workspace->offers_presets = false;  // as `praxis serve` does
    options.access.tokens = {{digest_of(kOwner), {"owner", true}},
                             {digest_of(kAnna), {"anna", false}},
                             {digest_of(kBert), {"bert", false}}};
    options.access.hosts = {"localhost"};
    auto started = Server::start(*std::move(workspace), std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }
  void restart() {
    server_.reset();
    start();
  }

  static std::string request(std::string_view method, std::string_view path, std::string_view body,
                             std::string_view token, std::string_view headers = {}) {
    std::string text = std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n";
    if (!token.empty()) text.append("Authorization: Bearer ").append(token).append("\r\n");
    text.append(headers).append("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n").append(body);
    return text;
  }
  Answer call(std::string_view method, std::string_view path, std::string_view body = {},
              std::string_view token = kOwner, std::string_view headers = {}) const {
    RawClient client(server_->port());
    // Not by ending what it sends: a stream would take that for a client that is gone.
    client.send(request(method, path, body, token, std::string(headers) + "Connection: close\r\n"));
    Answer answer;
    const std::string all = client.read_all();
    if (all.size() > 12) answer.status = std::atoi(all.substr(9, 3).c_str());
    const std::size_t split = all.find("\r\n\r\n");
    if (split == all.npos) return answer;
    answer.head = all.substr(0, split);
    answer.body = all.substr(split + 4);
    answer.json = parse_json(answer.body).value_or(nullptr);
    return answer;
  }
  std::string create(const std::string& agent, std::string_view token = kOwner) const {
    const Answer made = call("POST", "/api/v1/runs", R"({"agent":")" + agent + R"(","prompt":"hi"})", token);
    EXPECT_EQ(made.status, 201) << made.body;
    return made.text("id");
  }
  /// The events of a path, up to and with the first named `last`.
  std::vector<Sent> stream(std::string_view path, const std::string& last, const std::string& after = {},
                           std::string_view token = kOwner) const {
    RawClient client(server_->port());
    client.send(request("GET", path, {}, token, after.empty() ? "" : "Last-Event-ID: " + after + "\r\n"));
    const std::string end = "event: " + last + "\n";
    std::string seen = client.read_until(end);
    const std::size_t at = seen.find(end);
    if (at == seen.npos) ADD_FAILURE() << last << " never came:\n" << seen;
    while (seen.find("\n\n", at) == seen.npos && client.read_more()) seen = client.read_until("");
    auto all = events_in(seen);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].event == last) all.resize(i + 1);
    }
    return all;
  }
  /// Waits until the run has this status.
  Answer wait_for(const std::string& run, std::string_view status) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    Answer answer;
    while (std::chrono::steady_clock::now() < until) {
      answer = call("GET", "/api/v1/runs/" + run);
      if (answer.text("status") == status) return answer;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADD_FAILURE() << run << " never became " << status << ":\n" << answer.body;
    return answer;
  }

  std::filesystem::path folder_;
  std::unique_ptr<Server> server_;
};

}  // namespace praxis::server::testing

// Requests that two programs could read differently, sent by a program in the sandbox: at most one request,
// and not one byte more, reaches a server. Own cases, and those of the llhttp parser where its corpus is at
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/testing/proxy_client.hpp"
#include "net/testing/test_proxy.hpp"

namespace praxis {
namespace {

namespace fs = std::filesystem;

/// Answers the first request of each connection and keeps all bytes that arrive, also those after it.
class CapturingServer {
 public:
  CapturingServer() : thread_([this] { serve(); }) {}
  CapturingServer(const CapturingServer&) = delete;
  CapturingServer& operator=(const CapturingServer&) = delete;
  ~CapturingServer() {
    listener_.end();
    thread_.join();
  }
  const std::string& target() const { return listener_.target(); }
  /// What arrived on each connection since the last call; waits for those that are still read.
  std::vector<std::string> take() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return reading_ == 0; });
    return std::exchange(arrived_, {});
  }

 private:
  void serve() {
    for (int socket; (socket = listener_.accept()) >= 0;) {
      ProxyClient client(socket);
      {
        const std::lock_guard lock(mutex_);
        ++reading_;
      }
      std::string all = client.read_head();
      const auto length = all.find("Content-Length: ");
      if (length != std::string::npos)
        all += client.read(std::strtoul(all.c_str() + length + 16, nullptr, 10));
      client.send(http_reply(200, "hello"));
      client.end();
      const timeval moment{0, 20'000};
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment));
      all += client.read_all();  // until the proxy closes
      const std::lock_guard lock(mutex_);
      arrived_.push_back(std::move(all));
      --reading_;
      idle_.notify_all();
    }
  }

  LoopbackListener listener_;
  std::mutex mutex_;
  std::condition_variable idle_;
  int reading_ = 0;
  std::vector<std::string> arrived_;
  std::thread thread_;
};

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// The bytes are one request that every program reads in the same way.
void expect_one_request(const std::string& bytes, const std::string& host) {
  const auto end = bytes.find("\r\n\r\n");
  ASSERT_NE(end, bytes.npos) << bytes;
  const std::string head = bytes.substr(0, end + 2);
  EXPECT_EQ(count_of(head, "\n"), count_of(head, "\r\n")) << "a line feed alone: " << head;
  EXPECT_EQ(count_of(head, "\r"), count_of(head, "\r\n")) << "a carriage return alone: " << head;
  EXPECT_EQ(head.find('\0'), head.npos);
  EXPECT_EQ(count_of(head, "\r\nHost: "), 1U) << head;
  EXPECT_EQ(count_of(head, "\r\nHost: " + host + "\r\n"), 1U) << head;
  EXPECT_EQ(count_of(head, "ransfer-"), 0U) << head;
  const auto length = head.find("\r\nContent-Length: ");
  const std::size_t body = length == head.npos ? 0 : std::strtoul(head.c_str() + length + 18, nullptr, 10);
  EXPECT_LE(count_of(head, "ontent-"), 2U) << head;
  EXPECT_EQ(bytes.size(), end + 4 + body) << "bytes behind the request: " << bytes;
}

class EgressRequests : public ::testing::Test {
 protected:
  /// Sends the bytes over a connection of its own; returns how many requests reached the server.
  std::size_t reach(const std::string& bytes) {
    ProxyClient client = proxy_.client();
    client.send(bytes);
    client.end();
    const std::string answer = client.read_all();
    const auto arrived = server_.take();
    for (const std::string& one : arrived) expect_one_request(one, server_.target());
    EXPECT_LE(arrived.size(), 1U) << "more than one request: " << bytes;
    EXPECT_LE(count_of(answer, "hello"), arrived.size()) << answer;
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << answer;
    return arrived.size();
  }
  /// The request, with a target that the proxy accepts.
  std::string absolute(std::string request) const {
    const auto space = request.find(' ');
    if (space != request.npos && request.compare(space, 2, " /") == 0)
      request.insert(space + 1, "http://" + server_.target());
    return request;
  }

  CapturingServer server_;
  TestProxy proxy_;
};

TEST_F(EgressRequests, AmbiguousOnes_ReachNoServer) {
  const std::string line = "POST / HTTP/1.1\r\n", second = "GET /second HTTP/1.1\r\nHost: evil\r\n\r\n";
  for (const std::string& headers :
       std::vector<std::string>{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second,
                                "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + second,
                                "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second,
                                "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + second,
                                "Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n\r\nhello",
                                "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello",
                                "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n",
                                "X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
                                "X: a\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
                                " Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
                                "X: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
                                "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!" + second,
                                "Content-Length: 5, 6\r\n\r\nhello!",
                                "Content-Length: +5\r\n\r\nhello",
                                "Content-Length: 0x5\r\n\r\nhello",
                                "Content-Length: 5 5\r\n\r\nhello",
                                "Content-Length: -1\r\n\r\n" + second,
                                "Content-Length: 18446744073709551621\r\n\r\nhello" + second,
                                "Content-Length : 5\r\n\r\nhello",
                                "Content-Length\r\n : 5\r\n\r\nhello",
                                "Content-Length: 5\n\nhello"}) {
    EXPECT_EQ(reach(absolute(line + headers)), 0U) << headers;
  }
}

TEST_F(EgressRequests, BytesBehindARequest_ReachNoServer) {
  const std::string second = "GET http://" + server_.target() + "/second HTTP/1.1\r\nHost: evil\r\n\r\n";
  EXPECT_LE(reach(absolute("GET / HTTP/1.1\r\nHost: x\r\n\r\n") + second), 1U);
  EXPECT_LE(reach(absolute("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello") + second), 1U);
  EXPECT_EQ(reach(absolute("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")), 1U) << "a plain one does";
  EXPECT_EQ(reach(absolute("GET / HTTP/1.1\r\nHost: x\r\n\r\n")), 1U) << "a plain one does";
}

// ---- the corpus

/// A case of the corpus: the bytes, and what it expects.
struct CorpusCase {
  std::string name;
  std::string bytes;
  bool is_error = false;
};

/// The bytes of a block: line ends as its project's runner sends them, escapes undone.
std::string sent_bytes(std::string_view block) {
  std::string out;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const char next = block[i] == '\\' && i + 1 < block.size() ? block[i + 1] : '\0';
    if (block[i] == '\n') {
      out += "\r\n";
    } else if (next == '\n') {
      ++i;  // a line that continues
    } else if (next == 'r' || next == 'n' || next == 't' || next == 'f') {
      out += next == 'r' ? '\r' : next == 'n' ? '\n' : next == 't' ? '\t' : '\f';
      ++i;
      if (next == 'n' && i + 1 < block.size() && block[i + 1] == '\n') ++i;
    } else {
      out += block[i];
    }
  }
  return out;
}

void add_cases(const fs::path& file, std::vector<CorpusCase>& cases) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  constexpr std::string_view kHttp = "```http\n", kLog = "```log\n", kEnd = "```";
  for (auto at = text.find(kHttp); at != text.npos; at = text.find(kHttp, at + 1)) {
    const auto heading = text.rfind("\n#", at);
    const auto begin = at + kHttp.size(), end = text.find(kEnd, begin);
    const auto log = text.find(kLog, end), log_end = text.find(kEnd, log + kLog.size());
    const std::string seen = text.substr(log, log_end - log);
    const bool is_error = seen.contains("error code=") && !seen.contains("Pause on CONNECT") &&
                          !seen.contains("Data after `Connection: close`");
    cases.push_back({file.filename().string() + text.substr(heading, text.find('\n', heading + 1) - heading),
                     sent_bytes(std::string_view(text).substr(begin, end - begin)), is_error});
  }
}

fs::path corpus() {
  const char* set = std::getenv("PRAXIS_CORPORA");
  const fs::path all = set != nullptr ? fs::path(set) : fs::path(PRAXIS_SOURCE_DIR) / "../shared/corpora";
  return all / "http-parsing/test/request";
}

TEST_F(EgressRequests, Corpus_ReachesServersWithOneRequestAtMost) {
  if (!fs::is_directory(corpus()))
    GTEST_SKIP() << "no corpus at " << corpus() << "; PRAXIS_CORPORA names the folder that holds it";
  std::vector<CorpusCase> cases;
  for (const auto& entry : fs::directory_iterator(corpus())) add_cases(entry.path(), cases);
  EXPECT_GT(cases.size(), 30U);
  std::size_t forwarded = 0;
  for (const CorpusCase& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(reach(one.bytes), 0U) << "a target without a host";
    const std::size_t reached = reach(absolute(one.bytes));
    EXPECT_LE(reached, one.is_error ? 0U : 1U) << one.bytes;
    forwarded += reached;
  }
  EXPECT_GT(forwarded, 3U) << "nothing was forwarded, so nothing was tested";
}

}  // namespace
}  // namespace praxis

// Requests that two readers could understand in different ways, sent with a valid token: none of them starts
// a run, and none hides another request that does.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "server/testing/served.hpp"

namespace praxis::server {
namespace {

using testing::kOwner;
using testing::RawClient;
using testing::ServerTest;

const std::string kRun = R"({"agent":"chat","prompt":"hi"})";
const std::string kLength = std::to_string(kRun.size());
const std::string kToken = "Authorization: Bearer " + std::string(kOwner) + "\r\n";
/// A request line and the headers that every request has.
const std::string kStart = "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n" + kToken;
/// The request that others hide: whole and valid, so that it starts a run wherever it is read.
const std::string kHidden = kStart + "Content-Length: " + kLength + "\r\n\r\n" + kRun;
const std::string kChunks = "1e\r\n" + kRun + "\r\n0\r\n\r\n";  // 30 bytes, then the end

struct Smuggled {
  std::string name, bytes;
};

/// With `headers`, then a body.
std::string with(const std::string& headers, const std::string& body) {
  return kStart + headers + "\r\n\r\n" + body;
}

std::vector<Smuggled> lengths() {
  std::vector<Smuggled> all{
      {"two lengths", with("Content-Length: " + kLength + "\r\nContent-Length: 0", kRun)},
      {"two lengths, the first zero", with("Content-Length: 0\r\nContent-Length: " + kLength, kRun)},
      {"equal lengths", with("Content-Length: " + kLength + "\r\nContent-Length: " + kLength, kRun)},
      {"length with a space before the colon", with("Content-Length : " + kLength, kRun)},
      {"length on a line that continues", with("Content-Length:\r\n " + kLength, kRun)},
      {"length that continues after a tab",
       with("X: y\r\n\tContent-Length: 0\r\nContent-Length: " + kLength, kRun)},
      {"length after a bare CR", with("X: y\rContent-Length: " + kLength, kRun)},
      {"length after a bare LF", with("X: y\nContent-Length: 0\r\nContent-Length: " + kLength, kRun)},
      {"length with a zero byte", with("Content-Length: " + kLength + std::string(1, '\0'), kRun)},
      {"name with a zero byte", with(std::string("Content-Length\0: ", 17) + kLength, kRun)}};
  for (const std::string& value :
       {kLength + ", " + kLength, "+" + kLength, std::string("-1"), "0x" + kLength, std::string("3 0"),
        std::string(), std::string("18446744073709551646"), std::string("3e1"), kLength + ";",
        "\"" + kLength + "\"", kLength + ".0", "\v" + kLength})
    all.push_back({"length \"" + value + '"', with("Content-Length: " + value, kRun)});
  return all;
}

std::vector<Smuggled> codings() {
  std::vector<Smuggled> all{
      {"coding and length", with("Transfer-Encoding: chunked\r\nContent-Length: 0", kChunks)},
      {"length and coding", with("Content-Length: 0\r\nTransfer-Encoding: chunked", kChunks)},
      {"two codings", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", kChunks)},
      {"two codings, the other way",
       with("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", kChunks)},
      {"coding with a space before the colon", with("Transfer-Encoding : chunked", kChunks)},
      {"coding after a space", with("X: y\r\n Transfer-Encoding: chunked", kChunks)},
      {"coding on a line that continues", with("Transfer-Encoding:\r\n chunked", kChunks)},
      {"coding after a bare LF", with("X: y\nTransfer-Encoding: chunked", kChunks)},
      {"coding with a zero byte", with(std::string("Transfer-Encoding: chunked\0", 27), kChunks)}};
  for (const char* value : {"chunked, chunked", "gzip, chunked", "chunked, identity", "identity", "xchunked",
                            "chunked;q=1", "\"chunked\"", "\vchunked", "", "chunked,", "chunk ed"})
    all.push_back(
        {std::string("coding \"") + value + '"', with(std::string("Transfer-Encoding: ") + value, kChunks)});
  return all;
}

std::vector<Smuggled> chunks() {
  std::vector<Smuggled> all;
  for (const std::string& body :
       {"0x1e\r\n" + kRun + "\r\n0\r\n\r\n", "+1e\r\n" + kRun + "\r\n0\r\n\r\n",
        "-1\r\n" + kRun + "\r\n0\r\n\r\n", "1e\n" + kRun + "\n0\n\n", "1e\r\n" + kRun + "0\r\n\r\n",
        "1e\r\n" + kRun + "XX0\r\n\r\n", "1e\r" + kRun + "\r0\r\r", "1ffffffffffffffffffff\r\n" + kRun,
        "1e;a\nb\r\n" + kRun + "\r\n0\r\n\r\n", "\r\n1e\r\n" + kRun + "\r\n0\r\n\r\n",
        " 1e\r\n" + kRun + "\r\n0\r\n\r\n", "1 e\r\n" + kRun + "\r\n0\r\n\r\n"})
    all.push_back({"chunks " + body.substr(0, 12), with("Transfer-Encoding: chunked", body)});
  return all;
}

std::vector<Smuggled> lines() {
  const std::string end = "Content-Length: " + kLength + "\r\n\r\n" + kRun;
  const std::string rest = "Host: localhost\r\n" + kToken + end;
  return {{"no version", "POST /api/v1/runs\r\n" + rest},
          {"HTTP/0.9", "POST /api/v1/runs HTTP/0.9\r\n" + rest},
          {"HTTP/2.0", "POST /api/v1/runs HTTP/2.0\r\n" + rest},
          {"HTTP/1.10", "POST /api/v1/runs HTTP/1.10\r\n" + rest},
          {"version in lower case", "POST /api/v1/runs http/1.1\r\n" + rest},
          {"space after the version", "POST /api/v1/runs HTTP/1.1 \r\n" + rest},
          {"two spaces", "POST  /api/v1/runs HTTP/1.1\r\n" + rest},
          {"tab", "POST\t/api/v1/runs HTTP/1.1\r\n" + rest},
          {"space in the path", "POST /api/v1/runs HTTP/1.1 HTTP/1.1\r\n" + rest},
          {"line ends of one character", "POST /api/v1/runs HTTP/1.1\n" + rest},
          {"line ends in the path", "POST /api/v1/runs%0d%0aX:%20y HTTP/1.1\r\n" + rest},
          {"other host in the path", "POST http://evil.example/api/v1/runs HTTP/1.1\r\n" + rest},
          {"own host in the path", "POST http://localhost/api/v1/runs HTTP/1.1\r\n" + rest},
          {"CONNECT", "CONNECT localhost:80 HTTP/1.1\r\n" + rest},
          {"asterisk", "OPTIONS * HTTP/1.1\r\n" + rest},
          {"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
          {"hello of TLS", "\x16\x03\x01\x02\x01\x01\xfc\r\n\r\n"},
          {"method with a control character", "PO\x01ST /api/v1/runs HTTP/1.1\r\n" + rest},
          {"line before the request", "X: y\r\nPOST /api/v1/runs HTTP/1.1\r\n" + rest}};
}

std::vector<Smuggled> headers() {
  const std::string length = "Content-Length: " + kLength;
  const std::string start = "POST /api/v1/runs HTTP/1.1\r\n" + kToken;
  const auto host = [&](const std::string& headers) { return start + headers + length + "\r\n\r\n" + kRun; };
  return {{"no host", host("")},
          {"two hosts", host("Host: localhost\r\nHost: evil.example\r\n")},
          {"equal hosts", host("Host: localhost\r\nHost: localhost\r\n")},
          {"list of hosts", host("Host: localhost, evil.example\r\n")},
          {"host with a user", host("Host: localhost@evil.example\r\n")},
          {"host as a port", host("Host: localhost:evil.example\r\n")},
          {"host with two ports", host("Host: localhost:80:90\r\n")},
          {"host with a path", host("Host: localhost/evil\r\n")},
          {"empty host", host("Host: \r\n")},
          {"open bracket", host("Host: [::1\r\n")},
          {"header without a colon", with("Evil\r\n" + length, kRun)},
          {"header without a name", with(": evil\r\n" + length, kRun)},
          {"name that is no token", with("Ev(il): x\r\n" + length, kRun)},
          {"control character", with("X: a\x01"
                                     "b\r\n" +
                                         length,
                                     kRun)},
          {"DEL", with("X: a\x7f"
                       "b\r\n" +
                           length,
                       kRun)},
          {"bare CR", with("X: a\rb\r\n" + length, kRun)},
          {"unknown expectation", with("Expect: 100-continue, a-miracle\r\n" + length, kRun)},
          {"key with a control character", with("Idempotency-Key: a\x02"
                                                "b\r\n" +
                                                    length,
                                                kRun)},
          {"body that does not come", with("Content-Length: 1000000", kRun)},
          {"body that is too large", with("Content-Length: 99999999999", kRun)}};
}

class SmuggledRequests : public ServerTest {
 protected:
  /// The statuses of all answers to `bytes`, and whether the server then closed.
  std::string answers_to(const std::string& bytes) const {
    RawClient client(server_->port());
    client.send(bytes);
    client.send_no_more();
    std::string_view all = client.read_all();
    std::string statuses;
    constexpr std::string_view kLine = "HTTP/1.1 ";
    for (std::size_t at = all.find(kLine); at != all.npos; at = all.find(kLine, at + 1)) {
      const std::string_view status = all.substr(at + kLine.size(), 3);
      if (status.find_first_not_of("0123456789") != status.npos) continue;  // a problem names a version
      statuses.append(statuses.empty() ? "" : " ").append(status);
    }
    return statuses + (client.closed() ? "" : " open");
  }
  std::size_t runs() const { return json_at(call("GET", "/api/v1/runs").json, "runs").as_array().size(); }
};

TEST_F(SmuggledRequests, HaveOneAnswerOf4xxAndStartNothing) {
  start();
  std::size_t cases = 0;
  for (const auto& table : {lengths(), codings(), chunks(), lines(), headers()}) {
    for (const auto& [name, bytes] : table) {
      ++cases;
      for (const std::string& sent : {bytes, bytes + kHidden}) {
        const std::string answers = answers_to(sent);
        const bool is_refused = answers.empty() || (answers.size() == 3 && answers.starts_with('4'));
        EXPECT_TRUE(is_refused) << name << ": " << answers << '\n' << sent;
      }
      EXPECT_EQ(runs(), 0U) << name;
    }
  }
  EXPECT_GE(cases, 50U);
  EXPECT_EQ(answers_to(kHidden), "201") << "the hidden request is one that works";
}

TEST_F(SmuggledRequests, PiecesMakeNoDifference) {
  start();
  for (const auto& table : {lengths(), codings(), lines()}) {
    for (const auto& [name, bytes] : table) {
      RequestParser parser(RequestBounds{});
      std::string pending;
      for (const char byte : bytes) {
        pending += byte;
        pending.erase(0, parser.feed(pending));
        if (parser.state() == RequestParser::State::kFailed) break;
      }
      const std::string& path = parser.request().target;
      const bool has_own_path = path == "/api/v1/runs" && parser.request().method == "POST";
      EXPECT_FALSE(parser.state() == RequestParser::State::kDone && has_own_path) << name;
    }
  }
}

}  // namespace
}  // namespace praxis::server

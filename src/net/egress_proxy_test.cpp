#include "net/egress_proxy.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/testing/proxy_client.hpp"
#include "net/testing/test_proxy.hpp"
#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortPatience = 50ms;  // a limit that the test reaches

constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established";

// Echoes its input; when the peer has ended its stream, reports that and ends its own stream.
std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + i / 251);
  return bytes;
}

TEST(EgressProxy, Tunnel_CarriesMuchDataInBothDirections) {
  EchoServer server;
  TestProxy proxy;
  ProxyClient client = proxy.client();
  ASSERT_EQ(client.open_tunnel(server.target()), kEstablished);
  const std::string sent = pattern(8'000'000);
  std::thread sender([&] { EXPECT_TRUE(client.send(sent)); });
  EXPECT_TRUE(client.read(sent.size()) == sent);
  sender.join();
  EXPECT_EQ(proxy.verdicts(), "+ " + server.target() + "\n");
}

TEST(EgressProxy, Tunnel_BytesSentWithTheRequestAreForTheServer) {
  EchoServer server;
  TestProxy proxy;
  ProxyClient client = proxy.client();
  client.send("CONNECT " + server.target() + " HTTP/1.1\r\n\r\nearly");
  client.read_head();
  EXPECT_EQ(client.read(5), "early");
}

TEST(EgressProxy, Tunnel_WithOneSideEndedCarriesTheOther) {
  EchoServer server;
  TestProxy proxy;
  ProxyClient client = proxy.client();
  ASSERT_EQ(client.open_tunnel(server.target()), kEstablished);
  client.send("last words");
  client.end();
  EXPECT_EQ(client.read_all(), "last wordsbye");
}

TEST(EgressProxy, Tunnel_EndedByTheServerDeliversAllBytes) {
  const std::string body = pattern(5'000'000);
  TestServer server([&](const TestRequest&, TestConnection& to) {
    to.write(http_reply(200, body));
    to.close();
  });
  TestProxy proxy;
  ProxyClient client = proxy.client();
  ASSERT_EQ(client.open_tunnel("127.0.0.1:" + std::to_string(server.port())), kEstablished);
  client.send("GET / HTTP/1.1\r\n\r\n");
  server.wait_for_requests(1);
  client.read_head();
  EXPECT_TRUE(client.read_all() == body);
}

TEST(EgressProxy, Tunnel_OfAVanishedClientIsClosed) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  TestProxy proxy;
  {
    ProxyClient client = proxy.client();
    ASSERT_EQ(client.open_tunnel("127.0.0.1:" + std::to_string(server.port())), kEstablished);
    client.send("GET / HTTP/1.1\r\n\r\n");
    server.wait_for_requests(1);
  }
  server.wait_until_idle();
}

TEST(EgressProxy, PlainRequest_ReachesTheServerThatWasParsed) {
  TestServer server(hello());
  TestProxy proxy;
  EXPECT_EQ(proxy.client().ask("GET " + server.url("/a?b") +
                               " HTTP/1.1\r\nHost: other.example\r\nProxy-Connection: keep-alive\r\n"
                               "X-Mine: 1\r\n\r\n"),
            "HTTP/1.1 200 Reply\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  const TestRequest seen = server.requests().at(0);
  EXPECT_EQ(seen.target, "/a?b");
  const HttpHeaders expected = {
      {"Host", "127.0.0.1:" + std::to_string(server.port())}, {"X-Mine", "1"}, {"Connection", "close"}};
  EXPECT_EQ(seen.headers, expected);
}

TEST(EgressProxy, PlainRequest_CarriesLargeBodiesBothWays) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    to.write(http_reply(200, request.body));
    to.close();
  });
  TestProxy proxy;
  const std::string body = pattern(5'000'000);
  const std::string answer = proxy.client().ask("POST " + server.url() + " HTTP/1.1\r\nContent-Length: " +
                                                std::to_string(body.size()) + "\r\n\r\n" + body);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body));
}

TEST(EgressProxy, PlainRequest_BytesAfterTheBodyAreNoSecondRequest) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "one")); });
  TestProxy proxy;
  ProxyClient client = proxy.client();
  client.send("POST " + server.url() + " HTTP/1.1\r\nContent-Length: 2\r\n\r\nok" +
              "GET / HTTP/1.1\r\nHost: hidden.example\r\n\r\n");
  client.read_head();
  EXPECT_EQ(client.read(3), "one");
  client.end();
  proxy.stop();
  server.wait_until_idle();
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests().at(0).body, "ok");
}

TEST(EgressProxy, PlainRequest_SupportsExpectContinue) {
  TestServer server([](const TestRequest& request, TestConnection& to) {
    if (request.method == "POST") to.write("HTTP/1.1 100 Continue\r\n\r\n");
    to.write(http_reply(200, request.body));
    to.close();
  });
  TestProxy proxy;
  ProxyClient client = proxy.client();
  client.send("POST " + server.url() + " HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  client.send("body");
  EXPECT_EQ(client.read_head(), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(client.read_all().ends_with("body"));
}

TEST(EgressProxy, ServerThatKeepsItsEndOpen_IsClosedWithTheClient) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.write(http_reply(200, "hello")); });
  TestProxy proxy;
  {
    ProxyClient client = proxy.client();
    client.send(get(server.url()));
    client.read_head();
    EXPECT_EQ(client.read(5), "hello");
  }
  server.wait_until_idle();
}

TEST(EgressProxy, HostThatIsNotAllowed_IsRefusedWithARemedy) {
  TestProxy proxy([](EgressOptions& options) { options.how_to_allow = "ask the cook"; });
  const std::string text = "evil.example:443 is not an allowed host: ask the cook";
  EXPECT_EQ(proxy.client().ask("CONNECT Evil.Example:443 HTTP/1.1\r\n\r\n"),
            "HTTP/1.1 403 " + text + "\r\nContent-Type: text/plain\r\nContent-Length: " +
                std::to_string(text.size() + 1) + "\r\nConnection: close\r\n\r\n" + text + "\n");
  EXPECT_TRUE(proxy.client().ask(get("http://evil.example/")).starts_with("HTTP/1.1 403 evil.example:80 "));
  EXPECT_EQ(proxy.verdicts(), "- evil.example:443\n- evil.example:80\n");
}

TEST(EgressProxy, RefusedClientThatIsStillSending_ReadsTheRefusal) {
  TestProxy proxy;
  ProxyClient client = proxy.client();
  const std::string body = pattern(3'000'000);
  EXPECT_TRUE(client.send("POST http://evil.example/ HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n" + body));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 403 "));
}

TEST(EgressProxy, MissingRules_AllowNothing) {
  TestServer server(hello());
  TestProxy nothing([](EgressOptions& options) { options.rules = {}; });
  EXPECT_TRUE(nothing.client().ask(get(server.url())).starts_with("HTTP/1.1 403 "));
  TestProxy no_address([](EgressOptions& options) { options.rules.allows_address = nullptr; });
  EXPECT_TRUE(no_address.client().ask(get(server.url())).starts_with("HTTP/1.1 403 "));
  EXPECT_EQ(server.connections(), 0u);
}

TEST(EgressProxy, AllowedNameWithAnInternalAddress_IsRefused) {
  TestServer server(hello());
  TestProxy proxy([](EgressOptions& options) {
    options.rules.allows_address = [](const Url&, std::string_view address) {
      return !is_non_public_address(address);
    };
  });
  const std::string target = "localhost:" + std::to_string(server.port());
  const std::string answer = proxy.client().ask("CONNECT " + target + " HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403 " + target + " leads to an address that is not allowed ("))
      << answer;
  EXPECT_EQ(proxy.verdicts(), "- " + target + "\n");
  EXPECT_EQ(server.connections(), 0u);
}

TEST(EgressProxy, RedirectToAnotherHost_IsJudgedAgain) {
  TestServer server([](const TestRequest&, TestConnection& to) {
    to.write(http_reply(302, "", "Location: http://evil.example/\r\n"));
    to.close();
  });
  TestProxy proxy;
  EXPECT_TRUE(proxy.client().ask(get(server.url())).contains("Location: http://evil.example/\r\n"));
  EXPECT_TRUE(proxy.client().ask(get("http://evil.example/")).starts_with("HTTP/1.1 403 "));
}

TEST(EgressProxy, AmbiguousTarget_IsNeitherJudgedNorDialled) {
  std::atomic<int> judged = 0;
  TestProxy proxy(
      [&](EgressOptions& options) { options.rules.allows = [&](const Url&) { return ++judged > 0; }; });
  using std::string_literals::operator""s;
  for (const std::string& target :
       {"evil.example\0.good.example:443"s, "evil.example%00.good.example:443"s, "2130706433:80"s,
        "0x7f.0.0.1:80"s, "0177.0.0.1:80"s, "user@good.example:443"s, "good.example\xc2\xa0:443"s}) {
    const std::string answer = proxy.client().ask("CONNECT " + target + " HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  }
  EXPECT_EQ(judged, 0);
  EXPECT_EQ(proxy.verdicts(), "- :0\n- :0\n- :0\n- :0\n- :0\n- :0\n- :0\n");
}

TEST(EgressProxy, ClosedPort_IsABadGateway) {
  std::uint16_t port = 0;
  {
    port = TestServer(hello()).port();
  }
  TestProxy proxy;
  const std::string answer = proxy.client().ask(get("http://127.0.0.1:" + std::to_string(port)));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 502 cannot connect to 127.0.0.1:")) << answer;
}

TEST(EgressProxy, ServerWithoutHttp_IsABadGateway) {
  TestServer server([](const TestRequest&, TestConnection& to) {
    to.write("SSH-2.0-server\r\n\r\n");
    to.close();
  });
  TestProxy proxy;
  EXPECT_TRUE(proxy.client().ask(get(server.url())).starts_with("HTTP/1.1 502 "));
}

TEST(EgressProxy, SlowHead_TimesOut) {
  TestProxy proxy([](EgressOptions& options) { options.head_time = kShortPatience; });
  ProxyClient client = proxy.client();
  client.send("CONNECT 127.0.0.1:1 HTTP/1.1\r\n");
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 408 "));
}

TEST(EgressProxy, EndlessHead_IsRefused) {
  TestProxy proxy;
  ProxyClient client = proxy.client();
  client.send("GET http://127.0.0.1/ HTTP/1.1\r\nName: " + std::string(70'000, 'a'));
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 431 "));
}

TEST(EgressProxy, SilentServer_TimesOut) {
  TestServer server([](const TestRequest&, TestConnection& to) { to.wait_for_close(); });
  TestProxy proxy([](EgressOptions& options) { options.idle_time = kShortPatience; });
  EXPECT_TRUE(proxy.client().ask(get(server.url())).starts_with("HTTP/1.1 504 "));
  ProxyClient client = proxy.client();
  ASSERT_EQ(client.open_tunnel("127.0.0.1:" + std::to_string(server.port())), kEstablished);
  EXPECT_EQ(client.read_all(), "");
}

TEST(EgressProxy, MoreBytesThanAllowed_CutTheConnection) {
  EchoServer server;
  TestProxy proxy([](EgressOptions& options) { options.max_bytes = 10; });
  ProxyClient client = proxy.client();
  ASSERT_EQ(client.open_tunnel(server.target()), kEstablished);
  client.send("12345");
  EXPECT_EQ(client.read(5), "12345");
  client.send("6");
  EXPECT_EQ(client.read_all(), "");
}

TEST(EgressProxy, ClientsOverTheLimit_AreServedInTurn) {
  TestServer server(hello());
  TestProxy proxy([](EgressOptions& options) { options.max_connections = 3; });
  std::atomic<int> served = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 40; ++i) {
    clients.emplace_back([&] { served += proxy.client().ask(get(server.url())).ends_with("hello"); });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(served, 40);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(EgressProxy, ClientsOverTheLimit_WaitInTheBacklog) {
  EchoServer echo;
  TestServer server(hello());
  TestProxy proxy([](EgressOptions& options) { options.max_connections = 1; });
  ProxyClient first = proxy.client();
  ASSERT_EQ(first.open_tunnel(echo.target()), kEstablished);
  const auto echo_one = [&] {
    first.send("x");
    EXPECT_EQ(first.read(1), "x");
  };
  echo_one();  // so the server has accepted it
  const std::size_t before = open_descriptors();
  std::vector<ProxyClient> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(proxy.client());
    waiting.back().send(get(server.url()));
  }
  for (int i = 0; i < 100; ++i) echo_one();
  // Those of the clients; the proxy has accepted none.
  EXPECT_EQ(open_descriptors(), before + waiting.size());
  EXPECT_EQ(proxy.verdicts(), "+ " + echo.target() + "\n");
  first.end();
  for (ProxyClient& client : waiting) EXPECT_TRUE(client.read_all().ends_with("hello"));
}

TEST(EgressProxy, Stop_CutsTunnelsAtOnceAndLeavesNothingBehind) {
  EchoServer server;
  TestProxy proxy;
  const std::string path = proxy.socket_path();
  std::vector<ProxyClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(proxy.client());
    ASSERT_EQ(clients.back().open_tunnel(server.target()), kEstablished);
  }
  clients.push_back(proxy.client());
  clients.back().send("GET http");  // and one that has sent half of its head

  const auto start = std::chrono::steady_clock::now();
  proxy.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(clients[static_cast<std::size_t>(i)].read_all(), "");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

TEST(EgressProxy, ManyConnections_LeaveNoDescriptorOpen) {
  EchoServer echo;
  TestServer server(hello());
  const std::size_t before = open_descriptors();
  {
    TestProxy proxy;
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(proxy.client().ask(get(server.url())).ends_with("hello"));
      EXPECT_TRUE(proxy.client().ask(get("http://evil.example/")).starts_with("HTTP/1.1 403 "));
      EXPECT_TRUE(proxy.client().ask("nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
      ProxyClient client = proxy.client();
      EXPECT_EQ(client.open_tunnel(echo.target()), kEstablished);
      client.end();
      EXPECT_EQ(client.read_all(), "bye");
    }
  }
  server.wait_until_idle();
  // The last thread of the echo server may still be closing its descriptors.
  const auto limit = std::chrono::steady_clock::now() + 10s;
  while (open_descriptors() != before && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(open_descriptors(), before);
}

TEST(EgressProxy, SocketAndFolder_AreAccessibleToTheirUserOnly) {
  TestProxy proxy;
  struct stat info{};
  ASSERT_EQ(stat(proxy.socket_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(stat(std::filesystem::path(proxy.socket_path()).parent_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

// Tries in a child process with another identity: whether it can connect, and whether it can remove the
// socket.
std::pair<bool, bool> tried_as(uid_t uid, gid_t gid, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  const pid_t child = fork();
  if (child == 0) {
    if (setregid(gid, gid) != 0 || setreuid(uid, uid) != 0) _exit(99);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int connected = ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    const int removed = ::unlink(address.sun_path) == 0;
    _exit(connected + 2 * removed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 4);
  return {WEXITSTATUS(status) & 1, WEXITSTATUS(status) & 2};
}

TEST(EgressProxy, Owner_MayConnectButNotReplaceTheSocket) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the owner of files";
  TestProxy proxy([](EgressOptions& options) { options.owner = {65534, 65534}; });
  const std::filesystem::path around = std::filesystem::path(proxy.socket_path()).parent_path().parent_path();
  std::filesystem::permissions(around, std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(tried_as(65534, 65534, proxy.socket_path()), std::pair(true, false));
  EXPECT_EQ(tried_as(65533, 65533, proxy.socket_path()), std::pair(false, false));
  EXPECT_EQ(tried_as(65533, 65534, proxy.socket_path()), std::pair(false, false));
}

TEST(EgressProxy, UnusablePath_IsAnErrorAndUnchanged) {
  ProxyFolder folder;
  const auto start_at = [](const std::string& path) {
    EgressOptions options;
    options.socket_path = path;
    const auto started = EgressProxy::start(std::move(options));
    return started ? "started" : std::string(to_string(started.error().code));
  };
  EXPECT_EQ(start_at("relative/proxy.sock"), "input");
  EXPECT_EQ(start_at("/proxy.sock"), "input");
  EXPECT_EQ(start_at(folder / "own/"), "input");
  EXPECT_EQ(start_at(folder / std::string(110, 'a') + "/s"), "input");
  EXPECT_EQ(start_at(folder / "missing/own/proxy.sock"), "tool");
  EXPECT_EQ(start_at(folder / "proxy.sock"), "tool");  // the folder exists already
  EXPECT_TRUE(std::filesystem::is_directory(folder.path()));
}

TEST(EgressProxy, FoldersOfKilledProxies_AreRemoved) {
  const ProxyFolder folder;
  const auto start = [&](const std::string& id) {
    EgressOptions options;
    options.socket_path = new_proxy_path(folder.path(), id);
    return EgressProxy::start(std::move(options)).value();
  };
  const auto living = start("living");
  if (const pid_t child = fork(); child == 0) {
    const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    const std::string path = new_proxy_path(folder.path(), "killed");
    ::mkdir(path.substr(0, path.rfind('/')).c_str(), 0700);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    _exit(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
  } else {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  for (const char* name : {"praxis-other", "praxis-empty", "unrelated"})
    std::filesystem::create_directory(folder / name);
  std::ofstream(folder / "praxis-other/file") << "kept";
  const auto exists = [&](const std::string& name) { return std::filesystem::exists(folder / name); };
  remove_ended_proxies(folder.path());
  EXPECT_TRUE(exists("praxis-killed/proxy")) << "too young: it may be about to listen";
  remove_ended_proxies(folder.path(), std::chrono::seconds(0));
  EXPECT_FALSE(exists("praxis-killed"));
  EXPECT_FALSE(exists("praxis-empty"));
  for (const char* name : {"praxis-living/proxy", "praxis-other/file", "unrelated"})
    EXPECT_TRUE(exists(name)) << name;
}

}  // namespace
}  // namespace praxis

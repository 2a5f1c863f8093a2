#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>

#include "net/egress_proxy_connection.hpp"
#include "net/testing/proxy_client.hpp"
#include "net/testing/test_server.hpp"

namespace praxis {
namespace {

using namespace std::chrono_literals;

constexpr auto kShortLookUp = 50ms;  // a limit that the test reaches

// One connection whose look-ups the test controls.
class OneConnection {
 public:
  explicit OneConnection(NameLookUp look_up) : resolver_(std::move(look_up)) {
    options_.rules.allows = [](const Url&) { return true; };
    options_.rules.allows_address = [](const Url&, std::string_view address) {
      return address == "127.0.0.1" || address == "::1";
    };
  }
  EgressOptions& options() { return options_; }
  void stop() { stop_.add_one(); }
  std::string ask(const std::string& request) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    ProxyClient client(pair[0]);
    std::thread server(
        [&] { EgressConnection(FileDescriptor(pair[1]), options_, resolver_, stop_.fd()).serve(); });
    const std::string answer = client.ask(request);
    client.end();
    server.join();
    return answer;
  }

 private:
  EgressOptions options_;
  Resolver resolver_;
  PollableCount stop_;
};

TEST(EgressLookUp, HostWithSeveralAddresses_IsDialledAtAllowedOnesOnly) {
  TestServer server(hello());
  OneConnection connection([](const std::string& host) -> Result<Addresses> {
    EXPECT_EQ(host, "name.example");
    return Addresses{"10.0.0.1", "::1", "127.0.0.1"};  // no server listens at the second
  });
  const std::string answer =
      connection.ask(get("http://Name.Example.:" + std::to_string(server.port()) + "/"));
  EXPECT_TRUE(answer.ends_with("hello")) << answer;
}

TEST(EgressLookUp, NameThatChangesItsAddress_IsLookedUpAndJudgedOncePerRequest) {
  TestServer server(hello());
  int look_ups = 0;
  OneConnection connection([&](const std::string&) -> Result<Addresses> {
    return Addresses{++look_ups == 1 ? "127.0.0.1" : "169.254.169.254"};
  });
  const std::string request = get("http://name.example:" + std::to_string(server.port()) + "/");
  EXPECT_TRUE(connection.ask(request).ends_with("hello"));
  EXPECT_EQ(look_ups, 1);
  EXPECT_TRUE(connection.ask(request).starts_with("HTTP/1.1 403 "));
}

TEST(EgressLookUp, UnknownName_IsABadGateway) {
  OneConnection connection(
      [](const std::string&) -> Result<Addresses> { return fail(ErrorCode::kTool, "no such name"); });
  EXPECT_TRUE(connection.ask(get("http://name.example/"))
                  .starts_with("HTTP/1.1 502 name.example cannot be looked up: no such name\r\n"));
}

// A look-up that hangs until the test releases it, which it does before the objects that the look-up uses are
// destroyed.
struct HangingLookUp {
  std::shared_ptr<std::binary_semaphore> go_on = std::make_shared<std::binary_semaphore>(0);
  ~HangingLookUp() { go_on->release(); }
  NameLookUp function() const {
    return [gate = go_on](const std::string&) -> Result<Addresses> {
      gate->acquire();
      return Addresses{"127.0.0.1"};
    };
  }
};

TEST(EgressLookUp, HangingLookUp_TimesOut) {
  HangingLookUp look_up;
  OneConnection connection(look_up.function());
  connection.options().connect_time = kShortLookUp;
  EXPECT_TRUE(
      connection.ask(get("http://name.example/")).starts_with("HTTP/1.1 504 looking up name.example "));
}

TEST(EgressLookUp, HangingLookUp_DoesNotDelayAStop) {
  HangingLookUp look_up;
  const auto begun = std::make_shared<std::binary_semaphore>(0);
  OneConnection connection([begun, hang = look_up.function()](const std::string& host) {
    begun->release();
    return hang(host);
  });
  connection.options().connect_time = 1h;
  const std::jthread stopper([&] {
    begun->acquire();
    connection.stop();
  });
  connection.ask(get("http://name.example/"));
}

TEST(EgressLookUp, TooManyHangingLookUps_AreRefused) {
  HangingLookUp look_up;
  Resolver resolver(look_up.function(), 1);
  const PollableCount never;
  const auto refusal = [&] {
    const auto found = resolver.addresses_of("name.example", Patience{never.fd()}.within(kShortLookUp));
    return found ? 0 : found.error().status;
  };
  EXPECT_EQ(refusal(), 504);
  EXPECT_EQ(refusal(), 503);
}

}  // namespace
}  // namespace praxis

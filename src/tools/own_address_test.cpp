// A name that the rules allow must not lead to a service of this machine.
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/testing/missing_part.hpp"
#include "net/own_addresses.hpp"
#include "tools/host_rules.hpp"

namespace praxis {
namespace {

TEST(OwnAddresses, Loopback_IsOwnInEachForm) {
  EXPECT_TRUE(is_own_address("127.0.0.1"));
  EXPECT_TRUE(is_own_address("::ffff:127.0.0.1"));
  for (const char* address : {"8.8.8.8", "2606:4700::1111", "", "localhost", "127.0.0.1 "})
    EXPECT_FALSE(is_own_address(address)) << address;
}

constexpr int kNoNameSpace = 77;

/// Gives this process a network in which 8.8.4.4 is its own address. Returns 0, or `kNoNameSpace`.
int take_public_address() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return kNoNameSpace;
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x08080404);
  std::memcpy(&request.ifr_addr, &address, sizeof(address));
  return ioctl(socket, SIOCSIFADDR, &request) == 0 ? 0 : kNoNameSpace;
}

TEST(HostRules, PublicAddressOfThisMachine_MustBeListedItself) {
  if (PRAXIS_SANITIZED)
    GTEST_SKIP() << "a process with threads, as the sanitizers have, enters no name space";
  const auto rules = HostRules::parse({"wiki.example"}).value();
  const auto listed = HostRules::parse({"wiki.example", "8.8.4.4"}).value();
  const Url url = parse_url("http://wiki.example/").value();
  const pid_t child = fork();
  if (child == 0) {
    if (const int failed = take_public_address(); failed != 0) _exit(failed);
    if (rules.allows_address(url, "8.8.4.4")) _exit(1);
    if (!rules.allows_address(url, "8.8.8.8")) _exit(2);
    _exit(listed.allows_address(url, "8.8.4.4") ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNoNameSpace) PRAXIS_MISSING_PART("no user name spaces");
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
  EXPECT_TRUE(rules.allows_address(url, "8.8.4.4")) << "here it is another machine's";
}

}  // namespace
}  // namespace praxis

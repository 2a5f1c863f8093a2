// The sandbox from inside: hostile probes (tests/sandbox/probes.py), each of which succeeds outside a
// sandbox, and the access that legitimate programs need.
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <iostream>
#include <sstream>
#include <thread>

#include "base/file_descriptor.hpp"
#include "sandbox_rig.hpp"

namespace praxis::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A listening socket of the host; connections to it get no answer.
FileDescriptor listener(int family, const sockaddr* address, socklen_t size, int type = SOCK_STREAM) {
  FileDescriptor made(socket(family, type | SOCK_CLOEXEC, 0));
  if (bind(made.get(), address, size) != 0 || (type == SOCK_STREAM && listen(made.get(), 100) != 0)) {
    throw std::runtime_error("no listener");
  }
  return made;
}
FileDescriptor unix_listener(const std::string& path, int type = SOCK_STREAM) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return listener(AF_UNIX, reinterpret_cast<sockaddr*>(&address),
                  static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size()), type);
}
FileDescriptor port_listener(int type) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listener(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address, type);
}
std::string port_of(const FileDescriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return std::to_string(ntohs(address.sin_port));
}

struct Probe {
  std::string name;
  bool privileged = false;
};

std::vector<Probe> read_probes(const std::string& list) {
  std::vector<Probe> probes;
  std::istringstream in(list);
  for (std::string line; std::getline(in, line);) {
    const bool privileged = line.ends_with('*');
    probes.push_back({line.substr(0, line.size() - (privileged ? 1 : 0)), privileged});
  }
  return probes;
}

TEST_F(SandboxTest, EveryProbeFailsInsideAndSucceedsOutside) {
  const std::string script = fs::path(PRAXIS_SOURCE_DIR) / "tests/sandbox/probes.py";
  std::ifstream file(script);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  const auto tcp = port_listener(SOCK_STREAM), udp = port_listener(SOCK_DGRAM);
  const auto by_path = unix_listener(top_ / "socket");
  const std::string abstract = "praxis_sandbox_" + std::to_string(getpid());
  const auto by_name = unix_listener('\0' + abstract);

  auto keeps_a_secret = python({"-c", "import time; time.sleep(1000)"});
  keeps_a_secret.environment["OTHER"] = std::string(kSecret) + "-of-another";
  keeps_a_secret.limits.wall_time = Millis(0);
  const auto other = start_process(keeps_a_secret);

  const auto spec_of = [&](const std::string& name) {
    auto spec = python({"-c", code, name});
    spec.environment.insert({{"WS", workspace()},
                             {"OUT", top_ / "out"},
                             {"PID", std::to_string(getpid())},
                             {"TCP", port_of(tcp)},
                             {"UDP", port_of(udp)},
                             {"SOCK", top_ / "socket"},
                             {"DATAGRAMS", workspace() + "/datagrams"},
                             {"ABSTRACT", abstract},
                             {"SECRET", kSecret}});
    return spec;
  };
  const auto probes = read_probes(run(spec_of("--list")).out.text());
  int shown = 0, not_shown = 0;
  for (const Probe& probe : probes) {
    auto spec = spec_of(probe.name);
    fresh();
    auto datagrams = unix_listener(workspace() + "/datagrams", SOCK_DGRAM);
    fs::permissions(workspace() + "/datagrams", fs::perms::all);
    const auto outside = run(spec);
    const bool open = outside.out.text() == "OPEN\n";
    (open ? shown : not_shown) += 1;
    EXPECT_TRUE(open || probe.privileged)
        << probe.name << " does not even succeed outside: " << outside.err.text();
    if (!open) std::cout << "not shown outside: " << probe.name << "\n";

    fresh();
    datagrams = unix_listener(workspace() + "/datagrams", SOCK_DGRAM);
    fs::permissions(workspace() + "/datagrams", fs::perms::all);
    put_in_sandbox(spec);
    const auto inside = run(spec);
    EXPECT_THAT(inside.out.text(), Not(HasSubstr("OPEN"))) << probe.name << " escaped";
  }
  std::cout << probes.size() << " probes; " << shown << " shown to succeed outside, " << not_shown
            << " need a privilege or a feature that this machine lacks\n";
  EXPECT_GE(shown, 40);
}

TEST_F(SandboxTest, LegitimateProgram_HasTheAccessItNeeds) {
  auto spec =
      python({"-c",
              "import os, socket, tempfile, multiprocessing, getpass\n"
              "os.makedirs('a/b'); open('a/b/c', 'w').write('made')\n"
              "os.rename('a/b/c', 'a/d'); os.chmod('a/d', 0o755); os.link('a/d', 'a/e')\n"
              "tempfile.TemporaryFile().write(b'x'); open('/dev/null', 'w').write('x')\n"
              "socket.socketpair(); multiprocessing.Lock(); len(os.urandom(8))\n"
              "print(os.getcwd(), getpass.getuser(), os.environ['HOME'], open('.git/config').read())"});
  put_in_sandbox(spec);
  const auto result = run(spec);
  EXPECT_EQ(result.out.text(), workspace() + " nobody /tmp KEY=1\n\n") << result.err.text();
  std::ifstream made(top_ / "ws/a/d");
  std::string text;
  made >> text;
  EXPECT_EQ(text, "made");
  EXPECT_TRUE(fs::remove(top_ / "ws/a/d")) << "files that it created belong to us";
}

TEST_F(SandboxTest, ProcessesThatTogetherHoldTooMuchMemory_AreEnded) {
  // Each of the four holds less than its own limit.
  auto spec = python({"-c",
                      "import os, time\n"
                      "for _ in range(3):\n"
                      "  if os.fork() == 0: break\n"
                      "held = bytearray(os.urandom(1)) * (100 << 20)\n"
                      "time.sleep(25)"});
  put_in_sandbox(spec);
  spec.limits.memory_bytes = 256 << 20;
  EXPECT_EQ(run(spec).end, ProcessEnd::kOutOfMemory);
}

TEST_F(SandboxTest, FilesInTemporaryFolders_CountAsMemory) {
  auto spec = python({"-c",
                      "import time\n"
                      "for i in range(3):\n"
                      "  open(('/tmp/a', '/dev/shm/b', '/home/c')[i], 'wb').write(b'x' * (60 << 20))\n"
                      "time.sleep(25)"});
  put_in_sandbox(spec);
  spec.limits.memory_bytes = 160 << 20;
  EXPECT_EQ(run(spec).end, ProcessEnd::kOutOfMemory);
}

TEST_F(SandboxTest, SharedMemoryOfManyProcesses_CountsOnce) {
  auto spec = python({"-c",
                      "import os, time\n"
                      "held = bytearray(os.urandom(1)) * (100 << 20)\n"
                      "children = []\n"
                      "for _ in range(8):\n"
                      "  child = os.fork()\n"
                      "  if child == 0: time.sleep(1); os._exit(0)\n"
                      "  children.append(child)\n"
                      "for child in children: os.waitpid(child, 0)\n"
                      "print('done')"});
  put_in_sandbox(spec);
  spec.limits.memory_bytes = 256 << 20;
  EXPECT_EQ(run(spec).out.text(), "done\n");
}

void wait_for_path(const fs::path& path) {
  for (int i = 0; i < 2'000 && !fs::exists(path); ++i) std::this_thread::sleep_for(Millis(5));
  EXPECT_TRUE(fs::exists(path)) << path;
}
/// Lines of Python that wait until a file exists.
std::string waits_for(const std::string& name) {
  return "import os, time\nwhile not os.path.exists('" + name + "'): time.sleep(.005)\n";
}

TEST_F(SandboxTest, PathGuardedByTwoSandboxes_StaysGuardedWhenOneEnds) {
  auto first = python({"-c", "open('first', 'w')\n" + waits_for("end_first")});
  auto second = python({"-c", "open('second', 'w')\n" + waits_for("end_second") +
                                  "for name in ['.envrc', '.idea/workspace.xml']:\n"
                                  "  try: os.makedirs('.idea', exist_ok=True); open(name, 'w'); print(name)\n"
                                  "  except OSError: pass\n"});
  put_in_sandbox(first);
  put_in_sandbox(second);

  auto one = start_process(first);
  wait_for_path(top_ / "ws/first");
  auto other = start_process(second);  // finds the placeholders of the first
  wait_for_path(top_ / "ws/second");
  std::ofstream(top_ / "ws/end_first").close();
  ASSERT_TRUE(one->wait({}));
  EXPECT_TRUE(fs::exists(top_ / "ws/.envrc"));
  std::ofstream(top_ / "ws/end_second").close();
  const auto result = other->wait({});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.text() + result->err.text(), "") << "the program created the path";
  EXPECT_FALSE(fs::exists(top_ / "ws/.envrc"));
  EXPECT_FALSE(fs::exists(top_ / "ws/.idea"));
}

TEST_F(SandboxTest, PlaceholderThatAProgramOutsideWrote_Stays) {
  auto spec = python({"-c", "open('ran', 'w')\n" + waits_for("end")});
  put_in_sandbox(spec);
  auto process = start_process(spec);
  ASSERT_TRUE(process);
  wait_for_path(top_ / "ws/ran");
  const fs::path profile = top_ / "ws/.profile";
  fs::permissions(profile, fs::perms(01644));  // root needs no such mode
  std::ofstream(profile) << "written";
  fs::permissions(profile, fs::perms(01444));
  std::ofstream(top_ / "ws/end").close();
  ASSERT_TRUE(process->wait({}));
  ASSERT_TRUE(fs::exists(profile));
  EXPECT_EQ(fs::file_size(profile), 7U);
  EXPECT_FALSE(fs::exists(top_ / "ws/.zshrc"));
}

TEST_F(SandboxTest, Placeholders_AreFoldersOnlyWhereAFileWouldLookBroken) {
  auto spec = python({"-c",
                      "import os, stat\n"
                      "modes = {e.name: e.stat().st_mode for e in os.scandir('empty')}\n"
                      "print(len(modes) > 20, sorted(n for n, m in modes.items() if stat.S_ISDIR(m)))"});
  fs::create_directory(top_ / "ws/empty");
  put_in_sandbox(spec);
  spec.sandbox->writable.push_back(workspace() + "/empty");
  // Left by a killed sandbox whose placeholder was a folder.
  fs::create_directory(top_ / "ws/empty/.idea");
  fs::permissions(top_ / "ws/empty/.idea", fs::perms(01555));
  EXPECT_EQ(run(spec).out.text(), "True ['.git', '.idea', '.praxis']\n");
  EXPECT_TRUE(fs::is_empty(top_ / "ws/empty"));
  EXPECT_EQ(run(spec).out.text(), "True ['.git', '.praxis']\n");
  EXPECT_TRUE(fs::is_empty(top_ / "ws/empty"));
  // Above what a caller names, also where it is a protected name or the folder of one.
  for (const char* name : {".config/praxis", ".idea/run.sh", "later", "later/agent.toml"})
    spec.sandbox->protect.push_back(workspace() + "/empty/" + name);
  EXPECT_EQ(run(spec).out.text(), "True ['.config', '.git', '.idea', '.praxis', 'later']\n");
  EXPECT_TRUE(fs::is_empty(top_ / "ws/empty"));
}

TEST_F(SandboxTest, ManySandboxesAtOnce_RunAndLeaveNothing) {
  auto spec = python({"-c", "print('ran')"});
  put_in_sandbox(spec);
  const auto count = [&] { return std::distance(fs::directory_iterator(workspace()), {}); };
  const auto before = count();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) EXPECT_EQ(run(spec).out.text(), "ran\n");
    });
  }
  threads.clear();
  EXPECT_EQ(count(), before);
}

TEST_F(SandboxTest, InvalidRequest_IsRefused) {
  struct SandboxCase {
    const char* about;
    std::function<void(ProcessSpec&)> change;
    const char* message;
  };
  const std::vector<SandboxCase> cases{
      {"system folder", [](ProcessSpec& spec) { spec.sandbox->writable = {"/usr/lib"}; },
       "belongs to the system"},
      {"everything", [](ProcessSpec& spec) { spec.sandbox->writable = {"/"}; }, "belongs to the system"},
      {"missing folder", [](ProcessSpec& spec) { spec.sandbox->writable = {"/nonexistent"}; },
       "No such file"},
      {"relative", [](ProcessSpec& spec) { spec.sandbox->writable = {"here"}; }, "not an absolute path"},
      {"missing socket", [](ProcessSpec& spec) { spec.sandbox->proxy_socket = "/nonexistent"; },
       "No such file"},
      {"folder outside", [](ProcessSpec& spec) { spec.folder = "/var/nothing"; }, "chdir"},
      {"link",
       [&](ProcessSpec&) {
         fs::remove(top_ / "ws/.mcp.json");
         fs::create_symlink(top_ / "out/victim", top_ / "ws/.mcp.json");
       },
       "symbolic link"},
      {"more checkouts than can be kept",
       [&](ProcessSpec&) {
         fs::remove(top_ / "ws/.mcp.json");
         for (int i = 0; i < 257; ++i) fs::create_directories(top_ / "ws/many" / std::to_string(i) / ".git");
       },
       "more than 256 checkouts"},
  };
  for (const SandboxCase& one : cases) {
    auto spec = python({"-c", "open('ran', 'w')"});
    put_in_sandbox(spec);
    one.change(spec);
    const auto process = start_process(spec);
    ASSERT_FALSE(process) << one.about;
    EXPECT_EQ(process.error().code, ErrorCode::kPolicy) << one.about;
    EXPECT_THAT(process.error().message, HasSubstr(one.message)) << one.about;
    EXPECT_FALSE(fs::exists(top_ / "ws/ran")) << one.about;
  }
}

TEST_F(SandboxTest, Cancellation_LeavesNoProcess) {
  auto spec = python({"-c",
                      "import os, signal, time\n"
                      "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                      "if os.fork() == 0:\n"
                      "  os.setsid()\n"
                      "  if os.fork(): os._exit(0)\n"
                      "os.write(3, b'r'); time.sleep(1000)"});
  spec.channel = true;
  put_in_sandbox(spec);
  auto process = start_process(spec);
  ASSERT_TRUE(process) << process.error().message;
  char ready = 0;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(read(process->channel(), &ready, 1), 1);
  process->kill();
  const auto result = process->wait({});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, ProcessEnd::kCancelled) << "it did not run to its end";
  EXPECT_EQ(read(process->channel(), &ready, 1), 0) << "another process still holds the other end";
}

TEST_F(SandboxTest, ProxySocket_IsTheOnlyReachableAddress) {
  const auto proxy = unix_listener(top_ / "proxy");
  const auto tcp = port_listener(SOCK_STREAM);
  std::jthread answering([&] {
    const FileDescriptor peer(accept(proxy.get(), nullptr, nullptr));
    std::string request;
    char byte = 0;
    while (!request.ends_with("\r\n\r\n") && read(peer.get(), &byte, 1) == 1) request += byte;
    const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(1'000'000) +
                               "\r\nConnection: close\r\n\r\n" + std::string(1'000'000, 'x');
    for (std::size_t done = 0; done < answer.size();) {
      const auto sent = send(peer.get(), answer.data() + done, answer.size() - done, MSG_NOSIGNAL);
      if (sent <= 0) return;
      done += static_cast<std::size_t>(sent);
    }
  });
  auto spec = python({"-c",
                      "import os, socket, sys, time, urllib.request\n"
                      "while not os.path.exists('started'): time.sleep(0.01)\n"
                      "print(len(urllib.request.urlopen('http://example.com/').read()))\n"
                      "def way(name, make):\n"
                      "  try: make(); print('OPEN', name)\n"
                      "  except OSError: pass\n"
                      "way('tcp', lambda: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5))\n"
                      "way('udp', lambda: socket.socket(type=socket.SOCK_DGRAM))\n"
                      "way('raw', lambda: socket.socket(type=socket.SOCK_RAW))\n"
                      "way('netlink', lambda: socket.socket(socket.AF_NETLINK))\n"
                      "way('unix', lambda: socket.socket(socket.AF_UNIX))\n"
                      "way('multipath', lambda: socket.socket(proto=262))\n"
                      "way('listen', lambda: socket.create_server(('127.0.0.1', 4000)))\n",
                      port_of(tcp)});
  put_in_sandbox(spec);
  spec.sandbox->proxy_socket = top_ / "proxy";
  auto process = start_process(spec);
  ASSERT_TRUE(process) << process.error().message;
  std::ofstream(top_ / "ws/started").close();
  const auto result = process->wait({});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.text(), "1000000\n") << result->err.text();
  shutdown(proxy.get(), SHUT_RDWR);
}

}  // namespace
}  // namespace praxis::testing

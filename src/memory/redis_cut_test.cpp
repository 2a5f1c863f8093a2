// A memory in Redis whose connection is cut at exact points, or whose server does not answer for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/file_descriptor.hpp"
#include "memory/testing/redis_server.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using testing::RedisServer;
using ::testing::SizeIs;
using testing::StoreFolder;

enum class Cut : std::uint8_t { kNot, kRequest, kReply };

/// Stands between one client and the server.
class CuttingRelay {
 public:
  explicit CuttingRelay(std::string server) : server_(std::move(server)), listener_(new_socket()) {
    const sockaddr_un place = place_of(folder_.file("cut.sock"));
    if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 ||
        listen(listener_.get(), 4) != 0)
      throw std::runtime_error("no socket for the relay");
    thread_ = std::jthread([this](const std::stop_token& stop) { accept_each(stop); });
  }

  std::string address() const { return "redis+unix://" + folder_.file("cut.sock"); }
  /// Ends the connection at the next request, which the server does not get, or after the first byte of the
  /// next reply.
  void cut(Cut where) { cut_ = where; }
  int cuts() const { return cuts_; }

 private:
  static FileDescriptor new_socket() {
    return FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  }
  static sockaddr_un place_of(const std::string& path) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::memcpy(place.sun_path, path.c_str(), std::min(path.size() + 1, sizeof place.sun_path));
    return place;
  }

  void accept_each(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd input{listener_.get(), POLLIN, 0};
      if (poll(&input, 1, 20) <= 0) continue;
      const FileDescriptor client(accept(listener_.get(), nullptr, nullptr)), server = new_socket();
      const sockaddr_un place = place_of(server_);
      if (connect(server.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0)
        pass(client.get(), server.get(), stop);
    }
  }

  void pass(int client, int server, const std::stop_token& stop) {
    bool open = true;
    while (open && !stop.stop_requested()) {
      std::array<pollfd, 2> inputs = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
      if (poll(inputs.data(), inputs.size(), 20) <= 0) continue;
      if (inputs[0].revents != 0) open = forward(client, server, Cut::kRequest);
      if (open && inputs[1].revents != 0) open = forward(server, client, Cut::kReply);
    }
  }

  bool forward(int from, int to, Cut what) {
    std::array<char, 65536> bytes;
    const ssize_t count = recv(from, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    Cut expected = what;
    const bool cuts = cut_.compare_exchange_strong(expected, Cut::kNot);
    const std::size_t passed = !cuts ? static_cast<std::size_t>(count) : what == Cut::kReply ? 1 : 0;
    if (passed > 0 && send(to, bytes.data(), passed, MSG_NOSIGNAL) < 0) return false;
    if (cuts) ++cuts_;
    return !cuts;
  }

  const StoreFolder folder_;
  const std::string server_;
  const FileDescriptor listener_;
  std::atomic<Cut> cut_ = Cut::kNot;
  std::atomic<int> cuts_ = 0;
  std::jthread thread_;
};

class RedisMemoryCuts : public ::testing::TestWithParam<Cut> {
 protected:
  void SetUp() override {
    PRAXIS_NEED_REDIS();
    server_ = RedisServer::start_new();
    ASSERT_TRUE(server_);
    relay_ = std::make_unique<CuttingRelay>(server_->socket());
    clients_ = redis_memory(relay_->address()).value();
  }
  std::unique_ptr<RedisServer> server_;
  std::unique_ptr<CuttingRelay> relay_;
  MemoryClients clients_;
};

TEST_P(RedisMemoryCuts, WriteWithTheKeyOfAnEffect_IsMadeOnce) {
  relay_->cut(GetParam());
  EXPECT_TRUE(clients_.memory->append("log", 1, {"S/e1"}));
  EXPECT_EQ(relay_->cuts(), 1);
  EXPECT_THAT(clients_.memory->read("log").value(), SizeIs(1));
}

TEST_P(RedisMemoryCuts, WriteWithoutAKey_IsAnErrorAndNotRepeated) {
  relay_->cut(GetParam());
  const auto refused = clients_.memory->append("log", 1);
  EXPECT_THAT(clients_.memory->read("log").value(), SizeIs(GetParam() == Cut::kReply ? 1 : 0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kIo);
  EXPECT_EQ(relay_->cuts(), 1);
}

TEST_P(RedisMemoryCuts, Reading_IsRepeatedOnce) {
  ASSERT_TRUE(clients_.memory->append("log", 1));
  relay_->cut(GetParam());
  EXPECT_THAT(clients_.memory->read("log").value(), SizeIs(1));
  EXPECT_EQ(relay_->cuts(), 1);
}

INSTANTIATE_TEST_SUITE_P(Redis, RedisMemoryCuts, ::testing::Values(Cut::kRequest, Cut::kReply),
                         [](const auto& each) { return each.param == Cut::kRequest ? "Request" : "Reply"; });

TEST(RedisMemoryPause, ServerThatAnswersLate_IsWaitedFor) {
  PRAXIS_NEED_REDIS();
  const auto server = RedisServer::start_new();
  ASSERT_TRUE(server);
  const auto clients = redis_memory(server->new_database()).value();
  server->signal(SIGSTOP);
  std::jthread writer([&] { EXPECT_TRUE(clients.memory->append("log", 1)); });
  server->signal(SIGCONT);
  writer.join();
  EXPECT_THAT(clients.memory->read("log").value(), SizeIs(1));
}

}  // namespace
}  // namespace praxis

// The valve in front of libpq, with a pair of sockets in place of a server.
#include "tools/postgres_valve.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <thread>

namespace praxis {
namespace {

class SocketValve : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> pair = {-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    client_ = FileDescriptor(pair[0]);
    server_ = FileDescriptor(pair[1]);
    valve_ = PostgresValve::before(client_.get());
    ASSERT_TRUE(valve_);
  }

  /// What the client reads until it would have to wait, or until the end.
  std::string read_now() {
    std::string all;
    std::array<char, 4096> part{};
    while (true) {
      const auto got = recv(client_.get(), part.data(), part.size(), MSG_DONTWAIT);
      is_ended_ = got == 0;
      if (got <= 0) return all;
      all.append(part.data(), static_cast<std::size_t>(got));
    }
  }

  static void send_all(int to, const std::string& text) {
    for (std::size_t sent = 0; sent < text.size();) {
      const auto got = send(to, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (got < 0) return;
      sent += static_cast<std::size_t>(got);
    }
  }

  FileDescriptor client_, server_;
  std::optional<PostgresValve> valve_;
  bool is_ended_ = false;
};

TEST_F(SocketValve, ServerThatSendsWithoutEnd_IsReadInSmallParts) {
  const std::string sent(1'000'000, 'x');
  std::jthread sender([&] {
    send_all(server_.get(), sent);
    server_.reset();
  });
  std::string all;
  std::size_t largest = 0;
  while (!is_ended_) {
    const std::size_t let_in = valve_->let_in();
    const std::string part = read_now();
    EXPECT_EQ(part.size(), let_in);
    largest = std::max(largest, part.size());
    all += part;
  }
  EXPECT_LE(largest, 32U * 1024U);
  EXPECT_EQ(all, sent);
}

TEST_F(SocketValve, PartThatWasNotRead_IsNoticed) {
  EXPECT_FALSE(valve_->has_input());
  send_all(server_.get(), "row");
  EXPECT_EQ(valve_->let_in(), 3U);
  EXPECT_TRUE(valve_->has_input());
  EXPECT_EQ(read_now(), "row");
  EXPECT_FALSE(valve_->has_input());
}

TEST_F(SocketValve, WhatTheClientWrites_ArrivesWhole) {
  const std::string sent(1'000'000, 'y');
  std::string got;
  std::jthread reader([&] {
    std::array<char, 4096> part{};
    for (auto size = recv(server_.get(), part.data(), part.size(), 0); size > 0;
         size = recv(server_.get(), part.data(), part.size(), 0))
      got.append(part.data(), static_cast<std::size_t>(size));
  });
  for (std::size_t at = 0; at < sent.size();) {
    const auto size = send(client_.get(), sent.data() + at, sent.size() - at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size > 0) at += static_cast<std::size_t>(size);
    valve_->let_out();
  }
  // The last part, and the end, are passed on as libpq does it: it writes and closes.
  while (!valve_->let_out()) continue;
  client_.reset();
  valve_.reset();
  reader.join();
  EXPECT_EQ(got, sent);
}

}  // namespace
}  // namespace praxis

// An engine for tests: it keeps the entries of one invocation as Restate does, makes its requests from them,
// and takes answers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/protobuf_fields.hpp"
#include "engines/restate/guard.hpp"
#include "engines/restate/testing/recorded.hpp"

namespace praxis::restate::testing {

class FakeEngine {
 public:
  enum class End : std::uint8_t { kNone, kSuspended, kEnded, kRefused };

  /// `id` tells invocations apart.
  explicit FakeEngine(std::string key, char id = 'i') : key_(std::move(key)), id_(24, id) {
    entries_.push_back({FrameType::kInput, ""});
  }

  /// The body of the next request.
  std::string body() const {
    std::string start;
    put_bytes_field(start, 1, id_);
    put_number_field(start, 3, entries_.size());
    put_state(start);
    put_bytes_field(start, 6, key_);
    std::string body;
    put_frame(body, FrameType::kStart, start);
    for (const RecordedEntry& entry : entries_) put_frame(body, entry.type, entry.message);
    return body;
  }
  /// The invocation as the next request has it.
  Invocation request() const {
    auto invocation = read_invocation(body());
    EXPECT_TRUE(invocation) << invocation.error().message;
    return invocation.value_or(Invocation{});
  }

  /// The body of a request to the handler `wake`.
  std::string wake_body() const {
    std::string start, body;
    put_bytes_field(start, 1, std::string(24, 'w'));
    put_number_field(start, 3, 1);
    put_state(start);
    put_bytes_field(start, 6, key_);
    put_frame(body, FrameType::kStart, start);
    put_frame(body, FrameType::kInput, "");
    return body;
  }

  /// Stores what an answer says.
  void take(const std::string& answer) {
    EXPECT_TRUE(check_answer(request(), answer));
    const auto frames = read_frames(answer);
    for (const Frame& frame : *frames) {
      if (frame.type == FrameType::kSuspension) end_ = End::kSuspended;
      if (frame.type == FrameType::kEnd) end_ = End::kEnded;
      if (frame.type == FrameType::kError) end_ = End::kRefused;
      if (frame.type == FrameType::kProposeRunCompletion) complete(frame.message);
      if (frame.type == FrameType::kSetState) set_state(frame.message);
      if (frame.type == FrameType::kClearState) state_.clear();
      const bool is_command = frame.type >= FrameType::kInput && frame.type <= FrameType::kCompleteAwakeable;
      if (is_command) entries_.push_back({frame.type, std::string(frame.message)});
    }
  }
  /// The signal with this number came, or a cancellation.
  void signal(std::uint32_t number) {
    std::string message;
    put_number_field(message, 2, number);
    put_bytes_field(message, 4, "");
    entries_.push_back({FrameType::kSignal, message});
  }
  End end() const { return end_; }
  std::size_t batches() const { return request().batches.size(); }

 private:
  void put_state(std::string& start) const {
    if (state_.empty()) return;
    std::string entry;
    put_bytes_field(entry, 1, kAwakeableState);
    put_bytes_field(entry, 2, state_);
    put_bytes_field(start, 4, entry);
  }

  void set_state(std::string_view message) {
    ProtobufReader reader(message);
    EXPECT_EQ((*reader.next())->bytes, kAwakeableState);
    ProtobufReader value((*reader.next())->bytes);
    state_ = (*value.next())->bytes;
  }

  void complete(std::string_view proposal) {
    ProtobufReader reader(proposal);
    const auto id = *reader.next(), value = *reader.next();
    std::string content, message;
    put_bytes_field(content, 1, value->bytes);
    put_number_field(message, 1, id->value);
    put_bytes_field(message, 5, content);
    entries_.push_back({FrameType::kRunCompletion, message});
  }

  std::string key_, id_, state_;
  std::vector<RecordedEntry> entries_;
  End end_ = End::kNone;
};

}  // namespace praxis::restate::testing

// Frames of Restate's service protocol: a header of 8 bytes (type, flags, length), then a protobuf message.
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"

namespace praxis::restate {

/// The frames that Praxis reads or writes.
enum class FrameType : std::uint16_t {
  kStart = 0x0000,
  kSuspension = 0x0001,
  kError = 0x0002,
  kEnd = 0x0003,
  kProposeRunCompletion = 0x0005,
  kInput = 0x0400,
  kOutput = 0x0401,
  kSetState = 0x0403,
  kClearState = 0x0404,
  kSleep = 0x040C,
  kRun = 0x0411,
  kCompleteAwakeable = 0x0414,
  kSleepCompletion = 0x800C,
  kRunCompletion = 0x8011,
  kSignal = 0xFBFF,
};

inline constexpr std::size_t kFrameHeader = 8;

/// A frame within the bytes that it was read from.
struct Frame {
  FrameType type = FrameType::kStart;
  std::uint16_t flags = 0;
  std::string_view message;
};

void put_frame(std::string& out, FrameType type, std::string_view message);
/// Error `kInput`, `protocol`: the bytes end within a frame.
Result<std::vector<Frame>> read_frames(std::string_view bytes);

}  // namespace praxis::restate

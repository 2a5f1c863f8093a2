#include "engines/restate/frames.hpp"

#include "journal/big_endian.hpp"

namespace praxis::restate {
namespace {

void put_big_endian(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)) & 0xFFU);
}

}  // namespace

void put_frame(std::string& out, FrameType type, std::string_view message) {
  put_big_endian(out, static_cast<std::uint16_t>(type), 2);
  put_big_endian(out, 0, 2);
  put_big_endian(out, message.size(), 4);
  out += message;
}

Result<std::vector<Frame>> read_frames(std::string_view bytes) {
  std::vector<Frame> frames;
  while (!bytes.empty()) {
    const std::size_t length = bytes.size() < kFrameHeader ? 0 : big_endian(bytes.substr(4, 4));
    if (bytes.size() < kFrameHeader || bytes.size() - kFrameHeader < length)
      return fail(ErrorCode::kInput, ErrorKind::kProtocol, "the bytes end within a frame");
    frames.push_back({static_cast<FrameType>(big_endian(bytes.substr(0, 2))),
                      static_cast<std::uint16_t>(big_endian(bytes.substr(2, 2))),
                      bytes.substr(kFrameHeader, length)});
    bytes.remove_prefix(kFrameHeader + length);
  }
  return frames;
}

}  // namespace praxis::restate

// Fields of protobuf messages, for protocols of which Praxis speaks a few messages, so no code is generated.
// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/result.hpp"

namespace praxis {

enum class ProtobufWire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value);
void put_tag(std::string& out, std::uint32_t number, ProtobufWire wire);
void put_number_field(std::string& out, std::uint32_t number, std::uint64_t value);
void put_bytes_field(std::string& out, std::uint32_t number, std::string_view bytes);

/// A field as it was read. A number of 32 or 64 fixed bits has its value too.
struct ProtobufField {
  std::uint32_t number = 0;
  ProtobufWire wire = ProtobufWire::kVarint;
  std::uint64_t value = 0;      ///< of a number
  std::string_view bytes = {};  ///< of `kBytes`: within the message
};

/// Reads the fields of one message, which must outlive the reader.
class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view message) : rest_(message) {}
  /// The next field; nothing at the end. Error `kInput`, `protocol`: the bytes are not a message.
  Result<std::optional<ProtobufField>> next();

 private:
  Result<std::uint64_t> varint();
  Result<std::string_view> take(std::uint64_t count);

  std::string_view rest_;
};

}  // namespace praxis

#include "base/protobuf_fields.hpp"

namespace praxis {
namespace {

constexpr unsigned kVarintBits = 7;
constexpr std::uint64_t kMore = 0x80;
constexpr unsigned kWireBits = 3;

std::unexpected<Error> not_a_message(const char* what) {
  return fail(ErrorCode::kInput, ErrorKind::kProtocol, std::string("not a protobuf message: ") + what);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i)
    value = value << 8U | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

}  // namespace

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= kMore; value >>= kVarintBits) out += static_cast<char>((value & (kMore - 1)) | kMore);
  out += static_cast<char>(value);
}

void put_tag(std::string& out, std::uint32_t number, ProtobufWire wire) {
  put_varint(out, (std::uint64_t{number} << kWireBits) | static_cast<std::uint64_t>(wire));
}

void put_number_field(std::string& out, std::uint32_t number, std::uint64_t value) {
  put_tag(out, number, ProtobufWire::kVarint);
  put_varint(out, value);
}

void put_bytes_field(std::string& out, std::uint32_t number, std::string_view bytes) {
  put_tag(out, number, ProtobufWire::kBytes);
  put_varint(out, bytes.size());
  out += bytes;
}

Result<std::uint64_t> ProtobufReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += kVarintBits) {
    if (rest_.empty()) return not_a_message("it ends within a number");
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & (kMore - 1)) << shift;
    if (byte < kMore) return value;
  }
  return not_a_message("a number has more than 64 bits");
}

Result<std::string_view> ProtobufReader::take(std::uint64_t count) {
  if (count > rest_.size()) return not_a_message("it ends within a field");
  const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
  rest_.remove_prefix(taken.size());
  return taken;
}

Result<std::optional<ProtobufField>> ProtobufReader::next() {
  if (rest_.empty()) return std::nullopt;
  const auto tag = varint();
  if (!tag) return fail(tag.error());
  constexpr std::uint64_t kMostFields = 1ULL << 29U;
  if (*tag >> kWireBits == 0 || *tag >> kWireBits >= kMostFields)
    return not_a_message("a field has an impossible number");
  ProtobufField field{static_cast<std::uint32_t>(*tag >> kWireBits),
                      static_cast<ProtobufWire>(*tag & ((1U << kWireBits) - 1))};
  switch (field.wire) {
    case ProtobufWire::kVarint: {
      const auto value = varint();
      if (!value) return fail(value.error());
      field.value = *value;
      return field;
    }
    case ProtobufWire::kBytes: {
      const auto size = varint();
      if (!size) return fail(size.error());
      const auto bytes = take(*size);
      if (!bytes) return fail(bytes.error());
      field.bytes = *bytes;
      return field;
    }
    case ProtobufWire::kFixed64:
    case ProtobufWire::kFixed32: {
      const auto bytes = take(field.wire == ProtobufWire::kFixed64 ? 8 : 4);
      if (!bytes) return fail(bytes.error());
      field.value = little_endian(*bytes);
      return field;
    }
  }
  return not_a_message("a field has a form that no message uses");
}

}  // namespace praxis

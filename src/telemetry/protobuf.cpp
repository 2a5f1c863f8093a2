// The protobuf form of OTLP. A table has the numbers and types of the fields that the JSON form has here
// (opentelemetry-proto 1.x, in which they never change), so no code has to be generated.
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/hex.hpp"
#include "base/protobuf_fields.hpp"
#include "praxis/base/utf8.hpp"
#include "praxis/domain/trace.hpp"
#include "telemetry/otlp.hpp"

namespace praxis::telemetry {
namespace {

enum class FieldType : std::uint8_t { kText, kHex, kBool, kVarint, kFixed64, kDouble, kMessage };

struct MessageTable;
struct Field {
  std::string_view name;  ///< in the JSON form
  std::uint32_t number = 0;
  FieldType type = FieldType::kText;
  const MessageTable* message = nullptr;
  bool packed = false;  ///< a list of numbers, all in one field
};
struct MessageTable {
  std::span<const Field> fields;
};

using enum FieldType;

extern const MessageTable kAnyValue;
constexpr std::array kArrayFields{Field{"values", 1, kMessage, &kAnyValue}};
constexpr MessageTable kArrayValue{kArrayFields};
constexpr std::array kAnyFields{Field{"stringValue", 1}, Field{"boolValue", 2, kBool},
                                Field{"intValue", 3, kVarint}, Field{"doubleValue", 4, kDouble},
                                Field{"arrayValue", 5, kMessage, &kArrayValue}};
constexpr MessageTable kAnyValue{kAnyFields};
constexpr std::array kKeyValueFields{Field{"key", 1}, Field{"value", 2, kMessage, &kAnyValue}};
constexpr MessageTable kKeyValue{kKeyValueFields};
constexpr std::array kResourceFields{Field{"attributes", 1, kMessage, &kKeyValue}};
constexpr MessageTable kResource{kResourceFields};
constexpr std::array kScopeFields{Field{"name", 1}, Field{"version", 2}};
constexpr MessageTable kScope{kScopeFields};

constexpr std::array kEventFields{Field{"timeUnixNano", 1, kFixed64}, Field{"name", 2},
                                  Field{"attributes", 3, kMessage, &kKeyValue}};
constexpr MessageTable kEvent{kEventFields};
constexpr std::array kStatusFields{Field{"message", 2}, Field{"code", 3, kVarint}};
constexpr MessageTable kStatus{kStatusFields};
constexpr std::array kSpanFields{Field{"traceId", 1, kHex},
                                 Field{"spanId", 2, kHex},
                                 Field{"traceState", 3},
                                 Field{"parentSpanId", 4, kHex},
                                 Field{"name", 5},
                                 Field{"kind", 6, kVarint},
                                 Field{"startTimeUnixNano", 7, kFixed64},
                                 Field{"endTimeUnixNano", 8, kFixed64},
                                 Field{"attributes", 9, kMessage, &kKeyValue},
                                 Field{"events", 11, kMessage, &kEvent},
                                 Field{"status", 15, kMessage, &kStatus}};
constexpr MessageTable kSpan{kSpanFields};
constexpr std::array kScopeSpansFields{Field{"scope", 1, kMessage, &kScope},
                                       Field{"spans", 2, kMessage, &kSpan}, Field{"schemaUrl", 3}};
constexpr MessageTable kScopeSpans{kScopeSpansFields};
constexpr std::array kResourceSpansFields{Field{"resource", 1, kMessage, &kResource},
                                          Field{"scopeSpans", 2, kMessage, &kScopeSpans},
                                          Field{"schemaUrl", 3}};
constexpr MessageTable kResourceSpans{kResourceSpansFields};
constexpr std::array kTracesFields{Field{"resourceSpans", 1, kMessage, &kResourceSpans}};
constexpr MessageTable kTraces{kTracesFields};

constexpr std::array kPointFields{Field{"startTimeUnixNano", 2, kFixed64},
                                  Field{"timeUnixNano", 3, kFixed64},
                                  Field{"count", 4, kFixed64},
                                  Field{"sum", 5, kDouble},
                                  Field{"bucketCounts", 6, kFixed64, nullptr, true},
                                  Field{"explicitBounds", 7, kDouble, nullptr, true},
                                  Field{"attributes", 9, kMessage, &kKeyValue},
                                  Field{"min", 11, kDouble},
                                  Field{"max", 12, kDouble}};
constexpr MessageTable kPoint{kPointFields};
constexpr std::array kHistogramFields{Field{"dataPoints", 1, kMessage, &kPoint},
                                      Field{"aggregationTemporality", 2, kVarint}};
constexpr MessageTable kHistogram{kHistogramFields};
constexpr std::array kMetricFields{Field{"name", 1}, Field{"description", 2}, Field{"unit", 3},
                                   Field{"histogram", 9, kMessage, &kHistogram}};
constexpr MessageTable kMetric{kMetricFields};
constexpr std::array kScopeMetricsFields{Field{"scope", 1, kMessage, &kScope},
                                         Field{"metrics", 2, kMessage, &kMetric}, Field{"schemaUrl", 3}};
constexpr MessageTable kScopeMetrics{kScopeMetricsFields};
constexpr std::array kResourceMetricsFields{Field{"resource", 1, kMessage, &kResource},
                                            Field{"scopeMetrics", 2, kMessage, &kScopeMetrics},
                                            Field{"schemaUrl", 3}};
constexpr MessageTable kResourceMetrics{kResourceMetricsFields};
constexpr std::array kMetricsFields{Field{"resourceMetrics", 1, kMessage, &kResourceMetrics}};
constexpr MessageTable kMetricsRequest{kMetricsFields};

// ---- writing

void put_fixed64(std::string& out, std::uint64_t value) {
  for (unsigned i = 0; i < sizeof(value); ++i, value >>= 8U) out += static_cast<char>(value & 0xFFU);
}

std::uint64_t integer_in(const Json& value) {
  if (value.is_int64()) return static_cast<std::uint64_t>(value.get_int64());
  if (value.is_uint64()) return value.get_uint64();
  if (!value.is_string()) return 0;
  const std::string_view text = value.get_string();
  if (text.starts_with('-')) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return static_cast<std::uint64_t>(number);
  }
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void put_number(std::string& out, const Field& field, const Json& value) {
  const bool is_double = field.type == kDouble;
  put_fixed64(out, is_double ? std::bit_cast<std::uint64_t>(value.to_number<double>()) : integer_in(value));
}

std::string encoded(const Json& json, const MessageTable& table);

void put_value(std::string& out, const Field& field, const Json& value) {
  switch (field.type) {
    case kText:
      return put_bytes_field(out, field.number, repair_utf8(to_plain_text(value)));
    case kHex:
      return put_bytes_field(out, field.number, bytes_of_hex(to_plain_text(value)));
    case kMessage:
      return put_bytes_field(out, field.number, encoded(value, *field.message));
    case kBool:
      return put_number_field(out, field.number, value.as_bool() ? 1 : 0);
    case kVarint:
      return put_number_field(out, field.number, integer_in(value));
    case kFixed64:
    case kDouble:
      put_tag(out, field.number, ProtobufWire::kFixed64);
      return put_number(out, field, value);
  }
}

std::string encoded(const Json& json, const MessageTable& table) {
  std::string out;
  for (const Field& field : table.fields) {
    const Json& value = json_at(json, field.name);
    if (value.is_null()) continue;
    const JsonArray* const list = value.if_array();
    if (list == nullptr) {
      put_value(out, field, value);
    } else if (field.packed) {
      std::string numbers;
      for (const Json& each : *list) put_number(numbers, field, each);
      put_bytes_field(out, field.number, numbers);
    } else {
      for (const Json& each : *list) put_value(out, field, each);
    }
  }
  return out;
}

}  // namespace

std::string to_protobuf(const Json& request, OtlpMessage message) {
  return encoded(request, message == OtlpMessage::kTraces ? kTraces : kMetricsRequest);
}

}  // namespace praxis::telemetry

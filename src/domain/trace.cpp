#include "praxis/domain/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace praxis {
namespace {

constexpr std::size_t kSpanDigits = 16;

/// The finaliser of SplitMix64: a bijection, so different inputs have different spans. Never zero.
SpanId mixed(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  value ^= value >> 31;
  return value == 0 ? 1 : value;
}

}  // namespace

std::string span_hex(SpanId span) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(kSpanDigits, '0');
  for (std::size_t i = kSpanDigits; i-- > 0; span >>= 4U) text[i] = kDigits[span & 0xFU];
  return text;
}

std::string to_hex(const TraceId& id) { return span_hex(id.high) + span_hex(id.low); }

std::optional<SpanId> span_id_from(std::string_view hex) {
  SpanId span = 0;
  if (hex.size() != kSpanDigits) return std::nullopt;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), span, 16);
  if (error != std::errc{} || end != hex.data() + hex.size()) return std::nullopt;
  return span;
}

std::optional<TraceId> trace_id_from(std::string_view hex) {
  if (hex.size() != 2 * kSpanDigits) return std::nullopt;
  const auto high = span_id_from(hex.substr(0, kSpanDigits)), low = span_id_from(hex.substr(kSpanDigits));
  if (!high || !low) return std::nullopt;
  return TraceId{*high, *low};
}

std::string traceparent(const TraceContext& context) {
  return "00-" + to_hex(context.trace) + "-" + span_hex(context.span) + "-01";
}

std::optional<TraceContext> trace_from_header(std::string_view header) {
  constexpr std::size_t kLength = 55;  // of version 00; later versions may append more after a dash
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (header.size() < kLength || header[2] != '-' || header[35] != '-' || header[52] != '-')
    return std::nullopt;
  const std::string_view version = header.substr(0, 2), flags = header.substr(53, 2);
  const auto trace = trace_id_from(header.substr(3, 2 * kSpanDigits));
  const auto span = span_id_from(header.substr(36, kSpanDigits));
  for (const std::string_view part : {version, header.substr(3, 32), header.substr(36, 16), flags}) {
    if (!std::ranges::all_of(part, is_hex)) return std::nullopt;
  }
  const bool is_longer = header.size() > kLength;
  if (version == "ff" || (is_longer && (version == "00" || header[kLength] != '-'))) return std::nullopt;
  if (!trace || !span || trace->empty() || *span == 0) return std::nullopt;
  return TraceContext{*trace, *span, 0};
}

TraceContext new_trace(std::uint64_t random, std::uint64_t more_random) {
  const std::uint64_t low = mixed(random ^ more_random);
  return {{mixed(random), mixed(low ^ more_random)}, mixed(more_random), 0};
}

TraceContext span_below(const TraceContext& above, std::string_view name, std::uint64_t number) {
  std::uint64_t value = above.span;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return {above.trace, mixed(value ^ (number << 48U)), above.span};
}

}  // namespace praxis

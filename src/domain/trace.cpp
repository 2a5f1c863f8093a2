#include "praxis/domain/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <vector>

#include "base/trimmed.hpp"
#include "domain/trace_state.hpp"

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

// ---- the list of `tracestate`

constexpr std::size_t kMaxMembers = 32;
constexpr std::size_t kMaxPart = 256;        // of a key and of a value
constexpr std::size_t kMaxLongMember = 128;  // longer ones go first

bool is_state_key(std::string_view key) {
  const auto is_first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (key.empty() || key.size() > kMaxPart || !is_first(key.front())) return false;
  return std::ranges::all_of(key, [&](char c) {
    return is_first(c) || std::string_view("_-*/@").find(c) != std::string_view::npos;
  });
}

bool is_state_value(std::string_view value) {
  if (value.empty() || value.size() > kMaxPart) return false;
  return std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~' && c != '='; });
}

/// The members of a list; none if it is not valid.
std::vector<std::string_view> members_of(std::string_view list) {
  std::vector<std::string_view> members;
  std::set<std::string_view> keys;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view member = trimmed(list.substr(begin, end - begin), " \t");
    begin = end + 1;
    if (member.empty()) continue;
    const auto split = member.find('=');
    if (split == std::string_view::npos) return {};
    const std::string_view key = member.substr(0, split);
    if (!is_state_key(key) || !is_state_value(member.substr(split + 1))) return {};
    if (!keys.insert(key).second || members.size() == kMaxMembers) return {};
    members.push_back(member);
  }
  return members;
}

std::size_t joined_size(const std::vector<std::string_view>& members) {
  std::size_t size = members.empty() ? 0 : members.size() - 1;
  for (const std::string_view member : members) size += member.size();
  return size;
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

std::optional<TraceContext> trace_from_header(std::string_view header, std::string_view tracestate) {
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
  return TraceContext{*trace, *span, 0, trace_state_from(tracestate)};
}

std::string trace_state_from(std::string_view tracestate) {
  std::vector<std::string_view> members = members_of(tracestate);
  if (joined_size(members) > kMaxTraceState)
    std::erase_if(members, [](std::string_view member) { return member.size() > kMaxLongMember; });
  while (joined_size(members) > kMaxTraceState) members.pop_back();
  std::string list;
  for (const std::string_view member : members) list += (list.empty() ? "" : ",") + std::string(member);
  return list;
}

TraceContext new_trace(std::uint64_t random, std::uint64_t more_random) {
  const std::uint64_t low = mixed(random ^ more_random);
  return {{mixed(random), mixed(low ^ more_random)}, mixed(more_random), 0, {}};
}

TraceContext span_below(const TraceContext& above, std::string_view name, std::uint64_t number) {
  std::uint64_t value = above.span;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return {above.trace, mixed(value ^ (number << 48U)), above.span, above.state};
}

}  // namespace praxis

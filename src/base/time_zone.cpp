#include "base/time_zone.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace praxis {
namespace {

constexpr std::size_t kMaxZoneFile = std::size_t{256} * 1024;
constexpr std::size_t kHeader = 44;

std::unexpected<Error> no_zone(std::string_view name) {
  return fail(ErrorCode::kInput, "the time zone \"" + std::string(name) +
                                     "\" is not known here; write UTC, +02:00 or a name such as "
                                     "Europe/Berlin (package tzdata)");
}

/// A big-endian integer at `at`, which must be inside the text.
std::int64_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  if (size == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  return static_cast<std::int64_t>(value);
}

/// The six counts of a TZif header, and where the parts of its block begin.
struct Block {
  std::size_t transitions, types, leaps, standard, universal, letters, data, time_size;

  std::size_t kinds() const { return data + transitions * time_size; }
  std::size_t infos() const { return kinds() + transitions; }
  std::size_t end() const {
    return infos() + types * 6 + letters + leaps * (time_size + 4) + standard + universal;
  }
};

std::optional<Block> block_at(std::string_view bytes, std::size_t at, std::size_t time_size) {
  if (bytes.size() < at + kHeader || bytes.substr(at, 4) != "TZif") return std::nullopt;
  const auto count = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<std::uint32_t>(big_endian(bytes, at + 20 + 4 * i, 4)));
  };
  const Block block{.transitions = count(3),
                    .types = count(4),
                    .leaps = count(2),
                    .standard = count(1),
                    .universal = count(0),
                    .letters = count(5),
                    .data = at + kHeader,
                    .time_size = time_size};
  if (block.types == 0 || block.end() > bytes.size()) return std::nullopt;
  return block;
}

/// Takes a number from the front of `text`.
std::optional<std::int32_t> take_number(std::string_view& text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

/// Takes `[+-]hh[:mm[:ss]]`, in seconds.
std::optional<std::int32_t> take_time(std::string_view& text) {
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  std::int32_t seconds = 0;
  for (std::int32_t unit = 3600; unit > 0; unit /= 60) {
    const auto number = take_number(text);
    if (!number || *number < 0 || *number > 167) return std::nullopt;
    seconds += *number * unit;
    if (!take(text, ':')) break;
  }
  return negative ? -seconds : seconds;
}

/// Skips the name of a zone: letters, or anything in `<>`.
void skip_name(std::string_view& text) {
  if (text.starts_with('<')) return text.remove_prefix(std::min(text.find('>'), text.size() - 1) + 1);
  while (!text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
}

std::optional<std::int32_t> fixed_offset(std::string_view name) {
  if (name == "UTC" || name == "Z") return 0;
  if (name.size() != 6 || (name[0] != '+' && name[0] != '-') || name[3] != ':') return std::nullopt;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!is_digit(name[1]) || !is_digit(name[2]) || !is_digit(name[4]) || !is_digit(name[5]))
    return std::nullopt;
  const std::int32_t hours = (name[1] - '0') * 10 + name[2] - '0',
                     minutes = (name[4] - '0') * 10 + name[5] - '0';
  if (hours > 15 || minutes > 59) return std::nullopt;
  return (name[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

bool is_zone_name(std::string_view name) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '-' || c == '+';
  };
  return !name.empty() && name.size() <= 64 && !name.starts_with('/') && std::ranges::all_of(name, is_part);
}

std::string zone_file(std::string_view name) {
  std::ifstream file("/usr/share/zoneinfo/" + std::string(name), std::ios::binary);
  std::string bytes(kMaxZoneFile, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

}  // namespace

TimeZone TimeZone::fixed(std::int32_t offset) {
  TimeZone zone;
  zone.first_ = offset;
  return zone;
}

Result<TimeZone> TimeZone::from_tzif(std::string_view bytes) {
  const auto refused = [] { return fail(ErrorCode::kInput, "not a file of time zone data"); };
  const auto old = block_at(bytes, 0, 4);
  const auto block = old && bytes[4] >= '2' ? block_at(bytes, old->end(), 8) : std::nullopt;
  if (!block) return refused();
  TimeZone zone;
  const auto offset_of = [&](std::size_t type) {
    return static_cast<std::int32_t>(big_endian(bytes, block->infos() + type * 6, 4));
  };
  zone.first_ = offset_of(0);
  for (std::size_t i = 0; i < block->transitions; ++i) {
    const auto type = static_cast<std::size_t>(static_cast<unsigned char>(bytes[block->kinds() + i]));
    if (type >= block->types) return refused();
    zone.changes_.push_back({big_endian(bytes, block->data + i * 8, 8), offset_of(type)});
  }
  std::string_view footer = bytes.substr(block->end());
  if (take(footer, '\n')) zone.read_footer(footer.substr(0, footer.find('\n')));
  return zone;
}

/// Reads the rule for times after the last change, such as `CET-1CEST,M3.5.0,M10.5.0/3`. Returns false, and
/// leaves the last offset in force, if there is no yearly rule of this form.
bool TimeZone::read_footer(std::string_view text) {
  Yearly rule;
  skip_name(text);
  const auto standard = take_time(text);
  if (!standard || text.empty()) return false;
  rule.standard = -*standard;
  rule.summer = rule.standard + 3600;
  skip_name(text);
  if (!text.empty() && text.front() != ',') {
    const auto summer = take_time(text);
    if (!summer) return false;
    rule.summer = -*summer;
  }
  for (Switch* const change : {&rule.begins, &rule.ends}) {
    if (!take(text, ',') || !take(text, 'M')) return false;
    for (unsigned* const part : {&change->month, &change->week, &change->weekday}) {
      if (part != &change->month && !take(text, '.')) return false;
      const auto number = take_number(text);
      if (!number || *number < 0 || *number > 12) return false;
      *part = static_cast<unsigned>(*number);
    }
    if (!take(text, '/')) continue;
    const auto at = take_time(text);
    if (!at) return false;
    change->seconds = *at;
  }
  const auto is_day = [](const Switch& s) {
    return s.month >= 1 && s.week >= 1 && s.week <= 5 && s.weekday <= 6;
  };
  if (!is_day(rule.begins) || !is_day(rule.ends)) return false;
  yearly_.push_back(rule);
  return true;
}

std::int32_t TimeZone::offset_by_rule(std::int64_t seconds) const {
  namespace chrono = std::chrono;
  const Yearly& rule = yearly_.front();
  const chrono::sys_seconds time{chrono::seconds{seconds}};
  const chrono::year year =
      chrono::year_month_day{chrono::floor<chrono::days>(time + chrono::seconds{rule.standard})}.year();
  const auto moment = [&](const Switch& change, std::int32_t offset) {
    const chrono::month month{change.month};
    const chrono::weekday weekday{change.weekday};
    const chrono::sys_days day = change.week == 5 ? chrono::sys_days{year / month / weekday[chrono::last]}
                                                  : chrono::sys_days{year / month / weekday[change.week]};
    return chrono::sys_seconds{day} + chrono::seconds{change.seconds - offset};
  };
  const auto begins = moment(rule.begins, rule.standard), ends = moment(rule.ends, rule.summer);
  const bool summer = begins < ends ? time >= begins && time < ends : time >= begins || time < ends;
  return summer ? rule.summer : rule.standard;
}

std::int32_t TimeZone::offset_at(UnixMillis time) const {
  const std::int64_t seconds =
      std::chrono::floor<std::chrono::seconds>(std::chrono::milliseconds{time.value}).count();
  const auto next = std::ranges::upper_bound(changes_, seconds, {}, &Change::at);
  if (next == changes_.end() && !yearly_.empty()) return offset_by_rule(seconds);
  return next == changes_.begin() ? first_ : std::prev(next)->offset;
}

Result<std::shared_ptr<const TimeZone>> TimeZone::find(std::string_view name) {
  if (const auto offset = fixed_offset(name)) return std::make_shared<const TimeZone>(fixed(*offset));
  if (!is_zone_name(name)) return no_zone(name);
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const TimeZone>, std::less<>> known;
  const std::scoped_lock lock(mutex);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  auto zone = from_tzif(zone_file(name));
  if (!zone) return no_zone(name);
  auto shared = std::make_shared<const TimeZone>(*std::move(zone));
  known.emplace(name, shared);
  return shared;
}

}  // namespace praxis

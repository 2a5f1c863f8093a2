#include "app/cron_times.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "app/hints.hpp"
#include "base/ascii.hpp"

namespace praxis::app {
namespace {

namespace chrono = std::chrono;

constexpr chrono::days kLongestSearch{9 * 366};  // 29 February can be eight years away
constexpr std::array<std::string_view, 12> kMonths{"jan", "feb", "mar", "apr", "may", "jun",
                                                   "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kWeekdays{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kShort{{{"@hourly", "0 * * * *"},
                                                                               {"@daily", "0 0 * * *"},
                                                                               {"@weekly", "0 0 * * 0"},
                                                                               {"@monthly", "0 0 1 * *"},
                                                                               {"@yearly", "0 0 1 1 *"}}};

/// One of the five fields.
struct CronField {
  std::string_view name;
  unsigned least = 0, most = 0;
  std::span<const std::string_view> names = {};  ///< of the numbers from `least` on
};

std::unexpected<Error> wrong(const CronField& field, std::string_view text) {
  return fail(usage_error(
      "the " + std::string(field.name) + " \"" + std::string(text) + "\" of the schedule is not valid",
      "write * or numbers from " + std::to_string(field.least) + " to " + std::to_string(field.most) +
          ", as in 1-5, */15 or 8,12"));
}

std::optional<unsigned> number_in(const CronField& field, std::string_view text) {
  const auto named = std::ranges::find(field.names, lower_case(text));
  if (named != field.names.end()) return field.least + static_cast<unsigned>(named - field.names.begin());
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (value < field.least || value > field.most) return std::nullopt;
  return value;
}

/// Sets the bits of one element of a list: `*`, `N`, `N-M`, each with `/STEP`.
template <std::size_t kSize>
bool set_element(const CronField& field, std::string_view text, std::bitset<kSize>& bits) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::string_view range = text.substr(0, slash);
  unsigned step = 1;
  if (slash < text.size()) {
    const auto read = number_in({"step", 1, field.most, {}}, text.substr(slash + 1));
    if (!read) return false;
    step = *read;
  }
  const std::size_t dash = range.find('-');
  auto first = number_in(field, range.substr(0, dash));
  auto last = dash == std::string_view::npos ? first : number_in(field, range.substr(dash + 1));
  if (range == "*") {
    first = field.least;
    last = field.most;
  } else if (slash < text.size() && dash == std::string_view::npos) {
    last = field.most;
  }
  if (!first || !last || *first > *last) return false;
  for (unsigned value = *first; value <= *last; value += step) bits.set(value);
  return true;
}

template <std::size_t kSize>
Status set_field(const CronField& field, std::string_view text, std::bitset<kSize>& bits) {
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (!set_element(field, rest.substr(0, comma), bits)) return wrong(field, text);
    if (comma == rest.size()) return {};
    rest.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

chrono::sys_days local_day(UnixMillis time, const TimeZone& zone) {
  const auto local = chrono::milliseconds{time.value} + chrono::seconds{zone.offset_at(time)};
  return chrono::sys_days{chrono::floor<chrono::days>(local)};
}

}  // namespace

Result<CronTimes> CronTimes::parse(std::string_view text) {
  for (const auto& [name, meaning] : kShort) {
    if (text == name) text = meaning;
  }
  const auto words = words_of(text);
  if (words.size() != 5)
    return fail(usage_error("the times \"" + std::string(text) + "\" of the schedule are not valid",
                            "write MINUTE HOUR DAY MONTH WEEKDAY, as in \"0 6 * * 1-5\", or @daily"));
  CronTimes times;
  Status read = set_field({"minute", 0, 59, {}}, words[0], times.minutes_);
  if (read) read = set_field({"hour", 0, 23, {}}, words[1], times.hours_);
  if (read) read = set_field({"day", 1, 31, {}}, words[2], times.days_);
  if (read) read = set_field({"month", 1, 12, kMonths}, words[3], times.months_);
  if (read) read = set_field({"weekday", 0, 7, kWeekdays}, words[4], times.weekdays_);
  if (!read) return fail(read.error());
  if (times.weekdays_.test(7)) times.weekdays_.set(0);
  times.any_day_ = words[2].starts_with('*');
  times.any_weekday_ = words[4].starts_with('*');
  return times;
}

bool CronTimes::has_day(chrono::sys_days day) const {
  const chrono::year_month_day date{day};
  if (!months_.test(static_cast<unsigned>(date.month()))) return false;
  const bool day_fits = days_.test(static_cast<unsigned>(date.day()));
  const bool weekday_fits = weekdays_.test(chrono::weekday{day}.c_encoding());
  return any_day_ || any_weekday_ ? day_fits && weekday_fits : day_fits || weekday_fits;
}

std::vector<UnixMillis> CronTimes::times_on(chrono::sys_days day, const TimeZone& zone) const {
  const auto offset_at = [&](chrono::sys_seconds time) {
    return chrono::seconds{zone.offset_at({chrono::milliseconds(time.time_since_epoch()).count()})};
  };
  const auto before = offset_at(chrono::sys_seconds{day} - chrono::days{1}),
             after = offset_at(chrono::sys_seconds{day} + chrono::days{2});
  std::vector<UnixMillis> times;
  const auto add = [&](chrono::sys_seconds time) {
    times.push_back({chrono::milliseconds(time.time_since_epoch()).count()});
  };
  for (unsigned minute = 0; minute < 24 * 60; ++minute) {
    if (!hours_.test(minute / 60) || !minutes_.test(minute % 60)) continue;
    const chrono::sys_seconds local = chrono::sys_seconds{day} + chrono::minutes{minute};
    const bool is_first = offset_at(local - before) == before;
    const bool is_second = after != before && offset_at(local - after) == after;
    // A line for every hour follows elapsed time.
    if (is_first || (!is_second && !hours_.all())) add(local - before);
    if (is_second && (!is_first || hours_.all())) add(local - after);
  }
  std::ranges::sort(times, {}, &UnixMillis::value);
  const auto same = std::ranges::unique(times, {}, &UnixMillis::value);
  times.erase(same.begin(), same.end());
  return times;
}

std::optional<UnixMillis> CronTimes::next(UnixMillis after, const TimeZone& zone) const {
  const chrono::sys_days today = local_day(after, zone);
  // A time that was moved over a gap, and one of the other offset, can lie on the day before.
  for (chrono::sys_days day = today - chrono::days{1}; day < today + kLongestSearch; day += chrono::days{1}) {
    if (!has_day(day)) continue;
    const auto times = times_on(day, zone);
    const auto found = std::ranges::upper_bound(times, after.value, {}, &UnixMillis::value);
    if (found != times.end()) return *found;
  }
  return std::nullopt;
}

std::vector<UnixMillis> CronTimes::between(UnixMillis after, UnixMillis until, const TimeZone& zone,
                                           std::size_t most) const {
  std::vector<UnixMillis> found;
  const chrono::sys_days last = local_day(until, zone) + chrono::days{1};
  for (chrono::sys_days day = local_day(after, zone) - chrono::days{1}; day <= last; day += chrono::days{1}) {
    if (!has_day(day)) continue;
    for (const UnixMillis time : times_on(day, zone)) {
      if (time > after && time <= until) found.push_back(time);
    }
    if (found.size() > most) found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(most));
  }
  return found;
}

}  // namespace praxis::app

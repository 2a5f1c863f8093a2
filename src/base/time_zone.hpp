// Local time of a time zone, for rules about times of day. Reads the zones of the machine (tzdata).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "praxis/base/result.hpp"
#include "praxis/base/time.hpp"

namespace praxis {

/// Immutable; safe on any thread.
class TimeZone {
 public:
  /// `UTC`, an offset such as `+02:00`, or a name of the IANA database, such as `Europe/Berlin`. Zones that
  /// were read stay in memory. Error `kInput`: there is no such zone on this machine.
  static Result<std::shared_ptr<const TimeZone>> find(std::string_view name);
  /// From the bytes of a TZif file (RFC 8536, version 2 or later). Error `kInput`: they are no such file.
  static Result<TimeZone> from_tzif(std::string_view bytes);
  static TimeZone fixed(std::int32_t offset);

  /// Seconds by which local time is ahead of UTC.
  std::int32_t offset_at(UnixMillis time) const;

 private:
  struct Change {
    std::int64_t at;  ///< seconds since 1970
    std::int32_t offset;
  };
  /// A day of the year on which the offset changes: `Mm.w.d/time` (POSIX TZ).
  struct Switch {
    unsigned month = 0, week = 0, weekday = 0;
    std::int32_t seconds = 7200;
  };
  struct Yearly {
    std::int32_t standard = 0, summer = 0;
    Switch begins, ends;
  };

  std::int32_t offset_by_rule(std::int64_t seconds) const;
  bool read_footer(std::string_view text);

  std::int32_t first_ = 0;       ///< before all changes
  std::vector<Change> changes_;  ///< in order
  std::vector<Yearly> yearly_;   ///< after all changes; at most one
};

}  // namespace praxis

// What a server refused because a principal did not have the right: kept for the audit.
#pragma once

#include <string>
#include <vector>

#include "app/own_lines.hpp"
#include "praxis/base/time.hpp"
#include "praxis/domain/rights.hpp"

namespace praxis::app {

struct AccessRefusal {
  UnixMillis time = {};
  std::string principal = {};
  std::string role = {};
  std::string right = {};  ///< that was missing; or `four_eyes`
  std::string route = {};  ///< method and path, with `{id}` for what differs
};

/// Safe for concurrent use by processes. Keeps the last 5,000.
class RefusalLog {
 public:
  /// `folder` is the user's state folder; it is created with the file.
  explicit RefusalLog(const std::string& folder);
  Result<std::vector<AccessRefusal>> all() const;
  Status add(const AccessRefusal& refusal) const;

 private:
  OwnLines lines_;
};

}  // namespace praxis::app

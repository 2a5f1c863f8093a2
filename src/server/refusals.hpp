// What the server refused because of a right, on its way to the audit.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "app/refusals.hpp"

namespace praxis::server {

/// Thread-safe. Writes files, so call it on workers.
class Refusals {
 public:
  /// `warn` gets why an entry could not be kept; null: nothing.
  Refusals(const std::string& folder, std::function<void(const std::string&)> warn);
  /// Keeps the refusal, unless the same principal was refused the same right on the same route within an
  /// hour: a client that repeats its request must not fill the file.
  void note(const app::AccessRefusal& refusal);

 private:
  const app::RefusalLog log_;
  const std::function<void(const std::string&)> warn_;
  std::mutex mutex_;  // guards the next member
  std::map<std::tuple<std::string, std::string, std::string>, UnixMillis> last_;
};

}  // namespace praxis::server

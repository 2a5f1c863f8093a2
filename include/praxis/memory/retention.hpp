// Retention: removes the oldest notes of a collection, by age, number and size.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "praxis/base/environment.hpp"
#include "praxis/base/time.hpp"
#include "praxis/memory/database_client.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// What a collection may hold. Without a value: no bound.
struct Retention {
  std::optional<Millis> max_age = {};  ///< since a note got its value
  std::optional<std::size_t> max_notes = {};
  std::optional<std::size_t> max_bytes = {};  ///< of keys and values
};

struct SweepOptions {
  std::shared_ptr<Environment> environment = nullptr;  ///< the clock; null: that of the system
  std::stop_token stop = {};                           ///< ends the sweep after the batch in progress
  std::size_t batch = 500;                             ///< notes that are removed in one change
};

struct SweepReport {
  std::size_t removed = 0;  ///< notes
  std::size_t bytes = 0;    ///< of their keys and values
  bool finished = true;     ///< false: stopped; the next sweep continues
};

/// Removes notes, the first written first, until what the collection held at the start is within
/// its bounds. After a finished sweep no
/// file of the memory contains what was removed. A sweep that was stopped, or whose process died, has removed
/// whole batches; the next one continues. Safe while others read and write. Errors as of
/// `DatabaseClient::change`.
Result<SweepReport> sweep(DatabaseClient& memory, const std::string& collection, const Retention& retention,
                          const SweepOptions& options = {});

}  // namespace praxis
#pragma GCC visibility pop

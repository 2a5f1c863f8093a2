// The runs of a journal as lists show them, and the filters with which a user chooses some.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "praxis/base/time.hpp"
#include "praxis/domain/usage.hpp"
#include "praxis/journal/journal.hpp"
#include "praxis/json/json.hpp"

namespace praxis::app {

/// Which runs a user wants. A run must fit all that is set.
struct RunFilter {
  std::string text;    ///< in its id, name, tags, title, agent or model, or in what `praxis show` prints
  std::string agent;   ///< id of the agent
  std::string model;   ///< part of the model's name
  std::string status;  ///< as listed
  std::string tag;
  std::optional<UnixMillis> from;   ///< with a record at this time or later
  std::optional<UnixMillis> until;  ///< without a record after this time
  std::optional<MicroUsd> min_cost;
  std::optional<MicroUsd> max_cost;

  bool is_empty() const;
};

/// `completed`, `error` and the others. Error `kInput` suggests the nearest.
Result<std::string> parse_status(std::string_view text);

/// One run of a list.
struct ListedRun {
  SessionRow row;                       ///< with the status as seen from outside
  Usage usage = {};                     ///< of the run and all below it
  std::size_t sessions = 1;             ///< the run and its sub-agents
  bool held = false;                    ///< a process has one of them open
  std::optional<Millis> duration = {};  ///< of its turns together; nothing if it cannot be read
};

/// The run for programs: what its row has, and what it used.
JsonObject program_json(const ListedRun& run);

/// The run as a list shows it, without its duration. Errors as of `Journal::session`.
Result<ListedRun> listed_run(const std::shared_ptr<Journal>& journal, const SessionId& id);

/// Whether the row alone does not decide against the run. Status and cost are those of its tree:
/// `fits_listed`.
bool may_fit(const SessionRow& row, const RunFilter& filter);
/// Whether a run fits by what a list shows. Does not look into its conversation: `text` must be in the row.
bool fits_listed(const ListedRun& run, const RunFilter& filter);

enum class Sessions : bool { kRoots, kAll };

/// Calls `each` for the runs that fit the filter, the newest first, until it returns false. Runs that another
/// process removes meanwhile are left out. Error `kJournal`.
Status for_each_run(const std::shared_ptr<Journal>& journal, const RunFilter& filter, Sessions which,
                    UnixMillis now, const std::function<bool(const ListedRun&)>& each);

}  // namespace praxis::app

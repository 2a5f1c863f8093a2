// How a process reads a journal that it may not change, whatever other processes do to it meanwhile: they
// write, leave, are killed, or never existed. Each attempt decides:
// - Without a log the file is complete and static: it is read without locks.
// - While a writer lives, which keeps the index of its log current, the reader shares index and locks with
// it.
// - A log that a crash has left, or a copied one, is read without locks, with an index in memory; so is a
// live
//   one where sharing fails, or needs a permission to write that the reader lacks.
// What was read without locks counts only if neither file changed meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include "journal/acknowledged.hpp"
#include "journal/journal_file.hpp"
#include "journal/log_evidence.hpp"
#include "store/sqlite.hpp"

namespace praxis {

/// The attempts of one read.
class ReadAttempts {
 public:
  /// `path` is absolute. `excluded` is shared by the reads of one journal: whether the last found that a
  /// process keeps all others from the file, for which the next does not wait again.
  explicit ReadAttempts(const std::string& path, std::atomic<bool>* excluded = nullptr)
      : path_(path),
        excluded_(excluded),
        deadline_(Clock::now() + std::chrono::milliseconds(kBusyTimeoutMs)) {}

  /// Calls `select` until what it returns is one state of the journal, and not an older one than was
  /// acknowledged. Errors `corrupt` (it lost its end); `io` if other processes change the journal for ten
  /// seconds faster than it can be read without locks.
  template <class Select>
  std::invoke_result_t<Select, Database&> read(Select select) {
    return read_with_heads(
        [&](Database& database, const auto& heads) -> std::invoke_result_t<Select, Database&> {
          if (auto intact = check_acknowledged(database, heads); !intact)
            return fail(std::move(intact.error()));
          return select(database);
        });
  }
  /// The same, but passes the acknowledged heads to `select` instead of comparing them.
  template <class Select>
  std::invoke_result_t<Select, Database&, const JournalHeads&> read_with_heads(Select select) {
    for (;;) {
      auto result = read_once(next_mode(), select);
      if (is_final(result ? nullptr : &result.error())) return result ? result : fail(named(result.error()));
      if (Clock::now() >= deadline_) return fail(result ? changes_too_fast() : std::move(result.error()));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// How long a reader waits for a lock before it reads without. The holder, which opens or closes the
  /// journal, may be stopped.
  static constexpr int kSharingMs = 200;

  /// What changes whenever the journal does; the header of a log differs each time the log starts again.
  struct Files {
    std::string file, log;  ///< empty: missing
    bool has_index = false;
    bool operator==(const Files&) const = default;
  };

  template <class Select>
  std::invoke_result_t<Select, Database&, const JournalHeads&> read_once(Database::Mode mode,
                                                                         Select& select) {
    JournalHeads heads = acknowledged_heads(path_);  // the state that is read must not be older
    const auto behind_damage =
        mode == Database::Mode::kDetached ? entry_behind_damage_of(path_) : std::nullopt;
    auto reader = Database::open(path_, mode);
    if (!reader) return fail(std::move(reader.error()));
    if (mode == Database::Mode::kRead)
      excluded_ != nullptr && *excluded_ ? reader->wait_for_locks<0>() : reader->wait_for_locks<kSharingMs>();
    if (auto shown = show_as_latest(*reader); !shown) return fail(std::move(shown.error()));
    if (behind_damage) heads.push_back(head_of(*reader, *behind_damage));
    return select(*reader, heads);
  }

  Database::Mode next_mode();
  bool is_final(const Error* error);
  Files look() const;
  bool may_share() const;
  Error named(Error error) const;
  Error changes_too_fast() const;

  const std::string& path_;
  std::atomic<bool>* const excluded_;
  const Clock::time_point deadline_;
  Files before_;
  Database::Mode mode_ = Database::Mode::kRead;
  bool sharing_failed_ = false;
};

}  // namespace praxis

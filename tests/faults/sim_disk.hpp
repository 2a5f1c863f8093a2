// A disk in memory on which SQLite keeps its files, with fault injection.
//
// Each file of the disk is represented by a tiny real file in a folder in memory: it has the name, and its
// content is the number of the simulated file. So operations on names (the journal creates its file under
// another name, renames it, syncs the folder) really happen, and the bytes are where a power loss can tear
// them. Only files of that folder can be opened. The file `.head` of a journal is real, as SQLite does not
// write it.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios.hpp"
#include "sim_file.hpp"
#include "sim_locks.hpp"

namespace praxis::faults {

/// The content of a disk: the bytes of each file by name.
using Files = std::map<std::string, std::string>;

/// The faults to inject. Calls are counted from 1, starting at the last `expect`.
struct Trouble {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  /// During this change (a write, a truncation, a sync, a new or removed name).
  std::uint64_t power_lost_at = kNever;
  std::uint64_t error_at = kNever;  ///< this call fails
  std::uint64_t errors = 1;         ///< and so many from there on
  std::uint64_t full_at = kNever;   ///< from this write on the disk is full
  bool full_for_all = false;        ///< even for overwriting existing bytes
};

class SimDisk {
 public:
  /// Becomes the default disk of SQLite.
  SimDisk();
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  /// The path of a file for programs.
  std::string path(std::string_view name) const { return folder_ / name; }
  /// Replaces the content by these files, all of them durable, and clears all faults. No program may have a
  /// file open.
  void format(const Files& files, std::uint64_t seed);
  /// Returns the files as programs would read them.
  Files files() const;

  void expect(Trouble trouble);
  void expect_nothing() { expect({}); }
  std::uint64_t calls() const { return locked(calls_); }
  std::uint64_t writes() const { return locked(writes_); }

  bool has_power() const { return locked(power_); }
  /// Cuts the power, if it is not cut already: open files do nothing more.
  void lose_power();
  /// Restores the power: the files have the content that reached the platter. Open files stay dead.
  enum class Unsynced : std::uint8_t { kAnything, kNothing };  ///< what is kept of unsynced changes
  void restart(Unsynced kept = Unsynced::kAnything);

 private:
  friend struct SimVfs;
  using Number = std::uint64_t;  // of a file
  using Names = std::map<std::string, Number>;

  /// A file with its locks and the memory that its users share.
  struct Node {
    explicit Node(SimFile content = {}) : file(std::move(content)) {}

    SimFile file;
    std::uint64_t failed_syncs = 0;  ///< each is reported once to every user that had the file open
    SimLocks locks;
    std::vector<std::unique_ptr<std::array<char, 32768>>> memory;
    std::size_t memory_users = 0;
  };

  /// The operation that a call is about to perform.
  enum class Act : std::uint8_t { kRead, kWrite, kSync, kChange };

  template <class T>
  T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  /// Returns 0, or the error that is due for the call; `error` is its general form.
  int meet(Act act, int error);
  /// Whether the disk is full for a file that grows to `end`.
  bool is_full(const Node& node, std::uint64_t end) const;
  bool is_full() const { return writes_ >= trouble_.full_at; }
  /// Returns `error`, as an error of a full disk.
  int lack_room(int error);
  void cut();
  Names names() const;
  void sync_names() { durable_names_ = names(); }
  void write_stand_in(const std::string& name, Number number) const;
  Number number_of(const std::string& path) const;
  /// The files of acknowledged heads, which are real: mostly as written last, else torn or lost. Any state is
  /// possible, as the journal never syncs them.
  std::map<std::string, std::string> heads_after_power_loss();
  void clear();
  friend int folder_sync_met(int folder);

  const testing::MemoryFolder folder_;
  mutable std::mutex mutex_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::map<Number, std::shared_ptr<Node>> nodes_;
  Number last_number_ = 0;
  Names durable_names_, names_at_loss_;
  Trouble trouble_;
  std::uint64_t calls_ = 0, changes_ = 0, writes_ = 0;
  bool power_ = true;
  std::uint64_t age_ = 0;  // grows with each restart; files opened earlier are dead
  Random random_{0};
};

}  // namespace praxis::faults

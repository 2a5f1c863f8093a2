// A disk in memory on which SQLite keeps its files, and which fails as it is told.
//
// Each file of the disk has a tiny real file that stands for it, in a folder in memory: it has the name, and
// its content is the number of the file here. So whatever the journal does with names (it makes its file
// under another name, renames it, syncs the folder) is what really happens, and the bytes are where a power
// loss can tear them. Only files of that folder can be opened.
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

/// What a disk holds: the bytes of each file by name.
using Files = std::map<std::string, std::string>;

/// What goes wrong. Calls are counted from 1 and from the last `expect`.
struct Trouble {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  std::uint64_t power_lost_at =
      kNever;                       ///< amid this change (a write, a truncation, a sync, a new or gone name)
  std::uint64_t error_at = kNever;  ///< this call fails
  std::uint64_t errors = 1;         ///< and this many from there on
  std::uint64_t full_at = kNever;   ///< from this write on there is no room
  bool full_for_all = false;        ///< not even for bytes in the place of others
};

class SimDisk {
 public:
  /// Becomes the default disk of SQLite.
  SimDisk();
  ~SimDisk();
  SimDisk(const SimDisk&) = delete;
  SimDisk& operator=(const SimDisk&) = delete;

  /// The name by which programs know a file.
  std::string path(std::string_view name) const { return folder_ / name; }
  /// Has these files and no others, all of them durable; no trouble. Nobody may have a file open.
  void format(const Files& files, std::uint64_t seed);
  /// What programs would read.
  Files files() const;

  void expect(Trouble trouble);
  void expect_nothing() { expect({}); }
  std::uint64_t calls() const { return locked(calls_); }
  std::uint64_t writes() const { return locked(writes_); }

  bool has_power() const { return locked(power_); }
  /// Power is lost now, if it was not before: nothing that is open does anything more.
  void lose_power();
  /// Power is back: the files are what the platter kept of them. What was open stays dead.
  enum class Unsynced : std::uint8_t { kAnything, kNothing };  ///< what is kept of what was not synced
  void restart(Unsynced kept = Unsynced::kAnything);

 private:
  friend struct SimVfs;
  using Number = std::uint64_t;  // of a file
  using Names = std::map<std::string, Number>;

  /// A file with the locks on it and the memory that its users share.
  struct Node {
    explicit Node(SimFile content = {}) : file(std::move(content)) {}

    SimFile file;
    std::uint64_t failed_syncs = 0;  // each is told to all that had the file open, once
    SimLocks locks;
    std::vector<std::unique_ptr<std::array<char, 32768>>> memory;
    std::size_t memory_users = 0;
  };

  /// What a call is about to do.
  enum class Act : std::uint8_t { kRead, kWrite, kSync, kChange };

  template <class T>
  T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }
  /// 0, or the error that the call meets, of which `error` is the general form.
  int meet(Act act, int error);
  /// Whether the disk has no room for a file up to `end`.
  bool is_full(const Node& node, std::uint64_t end) const;
  bool is_full() const { return writes_ >= trouble_.full_at; }
  /// `error` for want of room.
  int lack_room(int error);
  void cut();
  Names names() const;
  void sync_names() { durable_names_ = names(); }
  void write_stand_in(const std::string& name, Number number) const;
  Number number_of(const std::string& path) const;
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
  std::uint64_t age_ = 0;  // grows with each start; what is open from an earlier one is dead
  Random random_{0};
};

}  // namespace praxis::faults

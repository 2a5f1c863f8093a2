#include "sim_disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace praxis::faults {
namespace {

SimDisk* the_disk = nullptr;      // the only instance
sqlite3_vfs* real_vfs = nullptr;  // for the time and other functions

}  // namespace

// Counting and failing; the lock is held.

int SimDisk::meet(Act act, int error) {
  if (!power_) return error;
  ++calls_;
  writes_ += act == Act::kWrite ? 1 : 0;
  // The caller performs the part that may still reach the disk, then cuts the power.
  if (act != Act::kRead && ++changes_ == trouble_.power_lost_at) return SQLITE_ABORT;
  if (calls_ >= trouble_.error_at && calls_ - trouble_.error_at < trouble_.errors) {
    errno = EIO;
    return error;
  }
  return SQLITE_OK;
}

bool SimDisk::is_full(const Node& node, std::uint64_t end) const {
  return is_full() && (trouble_.full_for_all || end > node.file.bytes().size());
}

int SimDisk::lack_room(int error) {
  errno = ENOSPC;
  return error;
}

void SimDisk::cut() {
  if (!power_) return;
  power_ = false;
  names_at_loss_ = names();
}

// File names.

namespace {

bool is_head(const std::string& path) { return path.ends_with(".head"); }

}  // namespace

SimDisk::Number SimDisk::number_of(const std::string& path) const {
  if (is_head(path)) return 0;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char text[24] = "";
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  return size <= 0 ? 0 : std::stoull(text);
}

SimDisk::Names SimDisk::names() const {
  Names names;
  for (const auto& found : std::filesystem::directory_iterator(folder_ / ""))
    names[found.path().filename()] = number_of(found.path());
  return names;
}

void SimDisk::write_stand_in(const std::string& name, Number number) const {
  const std::string file_path = path(name), text = number == 0 ? "" : std::to_string(number);
  const int file = open(file_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  if (!written) throw std::runtime_error("cannot write " + file_path);
}

std::map<std::string, std::string> SimDisk::heads_after_power_loss() {
  std::map<std::string, std::string> heads;
  for (const auto& [name, number] : names()) {
    if (!is_head(name)) continue;
    std::ifstream file(path(name), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (random_.once_in(8)) bytes.resize(random_.below(bytes.size() + 1));
    if (!random_.once_in(8)) heads[name] = std::move(bytes);
  }
  return heads;
}

void SimDisk::clear() {
  for (const auto& [name, number] : names()) unlink(path(name).c_str());
  nodes_.clear();
  ++age_;
}

// The life cycle of the disk.

void SimDisk::format(const Files& files, std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  clear();
  last_number_ = 0;
  for (const auto& [name, bytes] : files) {
    const Number number = bytes.empty() ? 0 : ++last_number_;
    if (number != 0) nodes_[number] = std::make_shared<Node>(SimFile(bytes));
    write_stand_in(name, number);
  }
  sync_names();
  trouble_ = {};
  calls_ = changes_ = writes_ = 0;
  power_ = true;
  random_ = Random(seed);
  sqlite3_randomness(0, nullptr);  // restarts with the output of `xRandomness`
}

Files SimDisk::files() const {
  const std::lock_guard lock(mutex_);
  Files files;
  for (const auto& [name, number] : names()) files[name] = number == 0 ? "" : nodes_.at(number)->file.bytes();
  return files;
}

void SimDisk::expect(Trouble trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = trouble;
  calls_ = changes_ = writes_ = 0;
}

void SimDisk::lose_power() {
  const std::lock_guard lock(mutex_);
  cut();
}

void SimDisk::restart(Unsynced unsynced) {
  const std::lock_guard lock(mutex_);
  cut();
  const bool loses_all = unsynced == Unsynced::kNothing;
  // By number, because the journal gives its new file a temporary name that depends on its own clock.
  std::set<std::pair<Number, std::string>> all;
  for (const auto& [name, number] : names_at_loss_) all.emplace(number, name);
  for (const auto& [name, number] : durable_names_) all.emplace(number, name);
  Names kept = durable_names_;
  for (const auto& [number, name] : all) {
    if (loses_all || random_.once_in(2)) continue;
    const auto found = names_at_loss_.find(name);
    if (found == names_at_loss_.end()) {
      kept.erase(name);
    } else {
      kept[name] = found->second;
    }
  }
  std::map<Number, std::shared_ptr<Node>> nodes;
  for (const auto& [number, node] : nodes_)
    nodes[number] = std::make_shared<Node>(
        SimFile(loses_all ? node->file.durable() : node->file.after_power_loss(random_)));
  const std::map<std::string, std::string> heads = heads_after_power_loss();
  clear();
  for (const auto& [name, number] : kept) {
    write_stand_in(name, number);
    if (number != 0) nodes_[number] = nodes.at(number);
  }
  for (const auto& [name, bytes] : heads) std::ofstream(path(name), std::ios::binary) << bytes;
  sync_names();
  trouble_ = {};
  power_ = true;
}

// The functions that SQLite calls.

/// The functions that SQLite calls: each takes the lock, applies the faults that are due, and does its work.
struct SimVfs {
  using Node = SimDisk::Node;
  using Act = SimDisk::Act;

  struct Handle {
    std::string path;  // empty: a temporary file
    std::shared_ptr<Node> node;
    std::uint64_t age = 0;
    bool new_name = false;  // perhaps: its first sync makes that durable
    bool uses_memory = false;
    std::uint64_t failures_told = 0;
    int level = SQLITE_LOCK_NONE;
  };
  struct File {
    sqlite3_file base;
    Handle* handle;
  };
  static Handle& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->handle; }

  /// Runs `work()` unless a fault is due, which is then reported as `error`. If `meet` returns
  /// `SQLITE_ABORT`, the work begins and everything after it fails.
  template <class Work>
  static int act(const Handle* handle, Act kind, int error, Work work) {
    const std::lock_guard lock(the_disk->mutex_);
    if (handle != nullptr && handle->age != the_disk->age_) return error;
    const int met = the_disk->meet(kind, error);
    if (met != SQLITE_OK && met != SQLITE_ABORT) return met;
    const int done = work(met == SQLITE_ABORT);
    if (met != SQLITE_ABORT) return done;
    the_disk->cut();
    return error;
  }

  // -- bytes

  static int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
    return act(&of(file), Act::kRead, SQLITE_IOERR_READ, [&](bool) {
      const std::string& bytes = of(file).node->file.bytes();
      const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
      const auto count = std::min(static_cast<std::size_t>(size), bytes.size() - from);
      std::memcpy(to, bytes.data() + from, count);
      if (count == static_cast<std::size_t>(size)) return SQLITE_OK;
      std::memset(static_cast<char*>(to) + count, 0, static_cast<std::size_t>(size) - count);
      return SQLITE_IOERR_SHORT_READ;
    });
  }

  /// A write that fails may have written a part.
  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
    const auto at = static_cast<std::uint64_t>(offset);
    Handle& handle = of(file);
    SimFile& target = handle.node->file;
    bool reached = false;
    const int code = act(&handle, Act::kWrite, SQLITE_IOERR_WRITE, [&](bool) {
      reached = true;
      const std::uint64_t end = target.bytes().size();
      if (!the_disk->is_full(*handle.node, at + bytes.size())) {
        target.write(at, bytes);
        return SQLITE_OK;
      }
      if (!the_disk->trouble_.full_for_all && at < end) target.write(at, bytes.substr(0, end - at));
      return the_disk->lack_room(SQLITE_FULL);
    });
    const std::lock_guard lock(the_disk->mutex_);
    if (!reached && the_disk->power_ && handle.age == the_disk->age_ && the_disk->random_.once_in(2))
      target.write(at, bytes.substr(0, the_disk->random_.below(bytes.size())));
    return code;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    return act(&of(file), Act::kChange, SQLITE_IOERR_TRUNCATE, [&](bool) {
      of(file).node->file.truncate(static_cast<std::uint64_t>(size));
      return SQLITE_OK;
    });
  }

  /// A failure is reported once to each user that has the file open, at its next sync, and not to later
  /// users.
  static int sync(sqlite3_file* file, int) {
    Handle& handle = of(file);
    Node& node = *handle.node;
    bool reached = false;
    const int code = act(&handle, Act::kSync, SQLITE_IOERR_FSYNC, [&](bool last) {
      reached = true;
      if (last) return SQLITE_OK;  // a power loss during the sync: any part may have arrived
      node.file.sync();
      if (std::exchange(handle.new_name, false)) the_disk->sync_names();
      const bool told = std::exchange(handle.failures_told, node.failed_syncs) == node.failed_syncs;
      return told ? SQLITE_OK : SQLITE_IOERR_FSYNC;
    });
    const std::lock_guard lock(the_disk->mutex_);
    if (!reached && the_disk->power_ && handle.age == the_disk->age_) {
      node.file.fail_sync();
      handle.failures_told = ++node.failed_syncs;
    }
    return code;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return act(&of(file), Act::kRead, SQLITE_IOERR_FSTAT, [&](bool) {
      *size = static_cast<sqlite3_int64>(of(file).node->file.bytes().size());
      return SQLITE_OK;
    });
  }

  // -- locks on the file; disk faults do not affect them

  static int lock(sqlite3_file* file, int level) {
    const std::lock_guard guard(the_disk->mutex_);
    return of(file).node->locks.lock(&of(file), of(file).level, level);
  }
  static int unlock(sqlite3_file* file, int level) {
    const std::lock_guard guard(the_disk->mutex_);
    of(file).node->locks.unlock(&of(file), of(file).level, level);
    return SQLITE_OK;
  }
  static int check_reserved_lock(sqlite3_file* file, int* reserved) {
    const std::lock_guard guard(the_disk->mutex_);
    *reserved = of(file).node->locks.is_reserved() ? 1 : 0;
    return SQLITE_OK;
  }

  // -- shared memory of connections

  static int memory_map(sqlite3_file* file, int region, int size, int extend, void volatile** mapped) {
    *mapped = nullptr;
    return act(&of(file), Act::kRead, SQLITE_IOERR_SHMMAP, [&](bool) {
      auto& memory = of(file).node->memory;
      if (size != static_cast<int>(sizeof *memory[0])) return SQLITE_IOERR_SHMMAP;
      if (!std::exchange(of(file).uses_memory, true)) ++of(file).node->memory_users;
      const auto wanted = static_cast<std::size_t>(region);
      if (memory.size() <= wanted && extend != 0 && the_disk->is_full())
        return the_disk->lack_room(SQLITE_IOERR_SHMSIZE);
      while (memory.size() <= wanted && extend != 0)
        memory.push_back(std::make_unique<std::array<char, 32768>>());
      if (wanted < memory.size()) *mapped = memory[wanted]->data();
      return SQLITE_OK;
    });
  }

  static int memory_lock(sqlite3_file* file, int first, int count, int flags) {
    const std::lock_guard guard(the_disk->mutex_);
    return of(file).node->locks.lock_memory(&of(file), first, count, flags);
  }

  static void memory_barrier(sqlite3_file*) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::lock_guard guard(the_disk->mutex_);
  }

  static int memory_unmap(sqlite3_file* file, int) {
    const std::lock_guard guard(the_disk->mutex_);
    if (std::exchange(of(file).uses_memory, false) && --of(file).node->memory_users == 0)
      of(file).node->memory.clear();
    return SQLITE_OK;
  }

  // -- other functions of a file

  static int control(sqlite3_file*, int what, void* value) {
    if (what != SQLITE_FCNTL_LAST_ERRNO) return SQLITE_NOTFOUND;
    *static_cast<int*>(value) = 0;
    return SQLITE_OK;
  }
  static int sector_size(sqlite3_file*) { return 4096; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }  // as SQLite's own

  static int close(sqlite3_file* file) {
    memory_unmap(file, 0);
    unlock(file, SQLITE_LOCK_NONE);
    delete reinterpret_cast<File*>(file)->handle;
    return SQLITE_OK;
  }

  // -- names

  static std::shared_ptr<Node> node_at(const std::string& path, int flags) {
    const bool is_there = access(path.c_str(), F_OK) == 0;
    if (!is_there) {
      if ((flags & SQLITE_OPEN_CREATE) == 0) return nullptr;
      if (the_disk->is_full()) {
        the_disk->lack_room(SQLITE_FULL);
        return nullptr;
      }
    }
    const SimDisk::Number number = is_there ? the_disk->number_of(path) : 0;
    if (number != 0) return the_disk->nodes_.at(number);
    the_disk->write_stand_in(std::filesystem::path(path).filename(), ++the_disk->last_number_);
    return the_disk->nodes_[the_disk->last_number_] = std::make_shared<Node>();
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    file->pMethods = nullptr;
    const bool changes = (flags & SQLITE_OPEN_CREATE) != 0;
    return act(nullptr, changes ? Act::kChange : Act::kRead, SQLITE_CANTOPEN, [&](bool) {
      auto handle = std::make_unique<Handle>();
      handle->age = the_disk->age_;
      handle->path = name == nullptr ? "" : name;
      handle->node = name == nullptr ? std::make_shared<Node>() : node_at(handle->path, flags);
      handle->new_name = changes && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
      if (!handle->node) return SQLITE_CANTOPEN;
      handle->failures_told = handle->node->failed_syncs;
      reinterpret_cast<File*>(file)->handle = handle.release();
      file->pMethods = &kMethods;
      if (out_flags != nullptr) *out_flags = flags;
      return SQLITE_OK;
    });
  }

  static int remove(sqlite3_vfs*, const char* name, int sync_folder) {
    return act(nullptr, Act::kChange, SQLITE_IOERR_DELETE, [&](bool last) {
      if (unlink(name) != 0) return errno == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
      if (sync_folder != 0 && !last) the_disk->sync_names();
      return SQLITE_OK;
    });
  }

  static int exists(sqlite3_vfs*, const char* name, int, int* there) {
    return act(nullptr, Act::kRead, SQLITE_IOERR_ACCESS, [&](bool) {
      const SimDisk::Number number = the_disk->number_of(name);  // a file without bytes does not count
      *there = number != 0 && !the_disk->nodes_.at(number)->file.bytes().empty() ? 1 : 0;
      return SQLITE_OK;
    });
  }

  // -- other functions

  static int full_name(sqlite3_vfs*, const char* name, int size, char* to) {
    return real_vfs->xFullPathname(real_vfs, name, size, to);
  }
  static int randomness(sqlite3_vfs*, int size, char* to) {
    const std::lock_guard guard(the_disk->mutex_);
    for (int i = 0; i < size; ++i) to[i] = static_cast<char>(the_disk->random_() & 255);
    return size;
  }
  static int sleep(sqlite3_vfs*, int microseconds) { return real_vfs->xSleep(real_vfs, microseconds); }
  static int now(sqlite3_vfs*, double* day) { return real_vfs->xCurrentTime(real_vfs, day); }
  static int now_ms(sqlite3_vfs*, sqlite3_int64* time) { return real_vfs->xCurrentTimeInt64(real_vfs, time); }
  static int last_error(sqlite3_vfs*, int, char*) { return errno; }

  static sqlite3_vfs methods();
  static const sqlite3_io_methods kMethods;
};

const sqlite3_io_methods SimVfs::kMethods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = file_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = memory_map,
    .xShmLock = memory_lock,
    .xShmBarrier = memory_barrier,
    .xShmUnmap = memory_unmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs SimVfs::methods() {
  sqlite3_vfs vfs{};
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(File);
  vfs.mxPathname = 512;
  vfs.zName = "simulated";
  vfs.xOpen = open;
  vfs.xDelete = remove;
  vfs.xAccess = exists;
  vfs.xFullPathname = full_name;
  vfs.xRandomness = randomness;
  vfs.xSleep = sleep;
  vfs.xCurrentTime = now;
  vfs.xGetLastError = last_error;
  vfs.xCurrentTimeInt64 = now_ms;
  return vfs;
}

SimDisk::SimDisk() : vfs_(std::make_unique<sqlite3_vfs>(SimVfs::methods())) {
  if (the_disk != nullptr) throw std::logic_error("there is a simulated disk already");
  the_disk = this;
  real_vfs = sqlite3_vfs_find(nullptr);
  sqlite3_vfs_register(vfs_.get(), 1);
}

SimDisk::~SimDisk() {
  sqlite3_vfs_register(real_vfs, 1);
  sqlite3_vfs_unregister(vfs_.get());
  the_disk = nullptr;
}

/// Applies faults to a sync of `folder`, an open file; no-op if it is not the disk's folder.
int folder_sync_met(int folder) {
  if (the_disk == nullptr) return SQLITE_OK;
  struct stat synced{}, ours{};
  const bool is_ours = fstat(folder, &synced) == 0 && stat((the_disk->folder_ / "").c_str(), &ours) == 0 &&
                       synced.st_ino == ours.st_ino && synced.st_dev == ours.st_dev;
  if (!is_ours) return SQLITE_OK;
  const std::lock_guard lock(the_disk->mutex_);
  const int met = the_disk->meet(SimDisk::Act::kSync, SQLITE_IOERR);
  if (met == SQLITE_OK) the_disk->sync_names();
  if (met == SQLITE_ABORT) the_disk->cut();
  return met;
}

}  // namespace praxis::faults

/// Replaces the C library's function, so that the disk notices which names the journal makes durable.
extern "C" int fsync(int file) {
  if (praxis::faults::folder_sync_met(file) == SQLITE_OK) return static_cast<int>(syscall(SYS_fsync, file));
  errno = EIO;
  return -1;
}

// States of SQLite's files that a kill, a lost sync or a torn sector can leave, made from the recorded writes
// of a session, each with an index of the log that is sound, stale, zero, cut or missing.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>

#include "fault.hpp"
#include "praxis/journal/journal.hpp"
#include "scenarios.hpp"

namespace praxis::faults {
namespace {

const SessionId kRecorded("01RECORDED");
constexpr std::size_t kSector = 512;
constexpr auto kSoon = std::chrono::seconds(5);  // usually milliseconds; a busy machine may need longer

/// One change of a file, or the end of one that is durable.
struct Change {
  enum class Kind : std::uint8_t { kWrite, kTruncate, kDelete, kSync, kAcknowledged };

  Kind kind = Kind::kWrite;
  bool log = false;  ///< of the log, otherwise of the database
  std::uint64_t at = 0;
  std::string bytes;
  std::string index = {};  ///< of the log, as it is after an acknowledgement
};

/// Records what SQLite does to the files; the default VFS while it exists.
class Recorder {
 public:
  Recorder() {
    real = sqlite3_vfs_find(nullptr);
    shim = *real;
    shim.zName = "recording";
    shim.xOpen = &open;
    shim.xDelete = &remove;
    changes.clear();
    sqlite3_vfs_register(&shim, 1);
  }
  ~Recorder() {
    sqlite3_vfs_register(real, 1);
    sqlite3_vfs_unregister(&shim);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  static inline std::vector<Change> changes;

 private:
  template <bool kLog>
  struct Methods {
    static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
      changes.push_back({Change::Kind::kWrite, kLog, static_cast<std::uint64_t>(at),
                         std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size))});
      return real_methods->xWrite(file, bytes, size, at);
    }
    static int truncate(sqlite3_file* file, sqlite3_int64 size) {
      changes.push_back({Change::Kind::kTruncate, kLog, static_cast<std::uint64_t>(size), ""});
      return real_methods->xTruncate(file, size);
    }
    static int sync(sqlite3_file* file, int flags) {
      const int synced = real_methods->xSync(file, flags);
      changes.push_back({Change::Kind::kSync, kLog, 0, ""});
      return synced;
    }
    static inline sqlite3_io_methods methods{};
  };
  template <bool kLog>
  static void replace(sqlite3_file* file) {
    sqlite3_io_methods& methods = Methods<kLog>::methods;
    methods = *real_methods;
    methods.xWrite = &Methods<kLog>::write;
    methods.xTruncate = &Methods<kLog>::truncate;
    methods.xSync = &Methods<kLog>::sync;
    file->pMethods = &methods;
  }
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    const int code = real->xOpen(real, name, file, flags, out_flags);
    if (code != SQLITE_OK || name == nullptr || std::string_view(name).contains(".incomplete")) return code;
    real_methods = file->pMethods;
    if ((flags & SQLITE_OPEN_WAL) != 0) replace<true>(file);
    if ((flags & SQLITE_OPEN_MAIN_DB) != 0) replace<false>(file);
    return code;
  }
  static int remove(sqlite3_vfs*, const char* name, int sync) {
    if (std::string_view(name).ends_with("-wal")) changes.push_back({Change::Kind::kDelete, true, 0, ""});
    return real->xDelete(real, name, sync);
  }

  static inline sqlite3_vfs* real = nullptr;
  static inline sqlite3_vfs shim{};
  static inline const sqlite3_io_methods* real_methods = nullptr;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Result<std::uint64_t> append_one(Journal& journal, const Lease& lease, std::uint64_t after,
                                 std::size_t size) {
  Append append{.lease = lease, .expected_seq = after, .entries = {}, .blobs = {}, .row = {}};
  append.entries.push_back({"message_appended", {1000}, std::string(size, 'x')});
  std::promise<Result<std::uint64_t>> done;
  journal.append(std::move(append), [&](Result<std::uint64_t> last) { done.set_value(std::move(last)); });
  return done.get_future().get();
}

/// What one session did to the files.
struct Recording {
  std::string fresh;  ///< the file as it was created
  std::vector<Change> changes;
};

/// Three processes' worth of appends, the last of which does not close the journal before the recording ends.
Recording record(const std::string& path) {
  Recording recording;
  {
    must(sqlite_journal(path));
  }
  recording.fresh = bytes_of(path);
  const Recorder recorder;
  std::uint64_t seq = 0;
  for (int process = 0; process < 3; ++process) {
    const auto journal = must(sqlite_journal(path));
    const Lease lease = must(seq == 0 ? journal->create(kRecorded, {5}) : journal->acquire(kRecorded));
    for (const std::size_t size : {10u, 3'000u, 40u, 20'000u, 500u}) {
      seq = must(append_one(*journal, lease, seq, size));
      Recorder::changes.push_back({Change::Kind::kAcknowledged, true, seq, "", bytes_of(path + "-shm")});
    }
    if (process == 2) recording.changes = Recorder::changes;
  }
  return recording;
}

/// The files at one moment; the parts that were not synced yet may be lost or torn.
struct FilesState {
  std::string file, log, index;
  bool has_log = false, has_index = false;
  std::uint64_t acknowledged = 0;
};

void apply(std::string& file, const Change& change) {
  if (change.kind == Change::Kind::kTruncate) file.resize(change.at);
  if (change.kind != Change::Kind::kWrite) return;
  if (file.size() < change.at + change.bytes.size()) file.resize(change.at + change.bytes.size());
  file.replace(change.at, change.bytes.size(), change.bytes);
}

/// Drops the sectors of a write that did not reach the disk.
void apply_torn(std::string& file, Change change, Random& random) {
  if (change.kind != Change::Kind::kWrite) return;
  for (std::size_t from = 0; from < change.bytes.size();) {
    const std::size_t to =
        std::min(change.bytes.size(), (change.at + from) / kSector * kSector + kSector - change.at);
    if (random.once_in(2))
      apply(file, {Change::Kind::kWrite, change.log, change.at + from, change.bytes.substr(from, to - from)});
    from = to;
  }
}

/// Returns the number of changes whose effect on the file is durable after `count` changes.
std::size_t durable_of(const Recording& recording, std::size_t count, bool log) {
  for (std::size_t i = count; i > 0; --i) {
    const Change& change = recording.changes[i - 1];
    if (change.kind == Change::Kind::kDelete || (change.kind == Change::Kind::kSync && change.log == log))
      return i;
  }
  return 0;
}

FilesState state_after(const Recording& recording, std::size_t count, bool loses_power, Random& random) {
  FilesState state{.file = recording.fresh, .log = {}, .index = {}};
  const std::size_t durable[] = {durable_of(recording, count, false), durable_of(recording, count, true)};
  for (std::size_t i = 0; i < count; ++i) {
    const Change& change = recording.changes[i];
    if (change.kind == Change::Kind::kAcknowledged) {
      state.acknowledged = change.at;
      state.index = change.index;
      continue;
    }
    if (change.log) state.has_log = change.kind != Change::Kind::kDelete;
    if (change.kind == Change::Kind::kDelete) state.log.clear();
    std::string& file = change.log ? state.log : state.file;
    if (loses_power && i >= durable[change.log]) {
      apply_torn(file, change, random);
    } else {
      apply(file, change);
    }
  }
  return state;
}

/// Gives the log an index of another time, or none.
void mistreat_index(FilesState& state, const Recording& recording, Random& random) {
  const std::uint64_t how = random.below(6);
  state.has_index = how != 0;
  if (how == 1) state.index.assign(32'768, '\0');
  if (how == 2) state.index.clear();
  if (how == 3) state.index.resize(random.below(state.index.size() + 1));
  if (how > 3) {
    const Change& other = recording.changes[random.below(recording.changes.size())];
    if (other.kind == Change::Kind::kAcknowledged) state.index = other.index;
  }
}

/// Reads the state, as a reader or as the next writer. Data that was acknowledged may be missing only if
/// `is_cut`: then it may also be refused.
void open_state(const std::string& path, const FilesState& state, bool writes, bool is_cut) {
  const auto start = std::chrono::steady_clock::now();
  const auto opened = sqlite_journal(path, {.create = false, .read_only = !writes});
  if (is_cut && !opened && opened.error().kind() == ErrorKind::kCorrupt) return;
  const auto journal = must(opened);
  const auto entries = journal->read(kRecorded);
  const bool none = !entries && entries.error().kind() == ErrorKind::kNotFound;
  const bool refused = !entries && entries.error().kind() == ErrorKind::kCorrupt;
  if (!none && !(refused && is_cut)) {
    ASSERT_TRUE(entries) << entries.error().message;
  }
  const std::uint64_t found = entries ? entries->size() : 0;
  if (!is_cut) {
    EXPECT_GE(found, state.acknowledged);
    EXPECT_LE(found, state.acknowledged + 1) << "an append that was not acknowledged may exist";
  }
  if (writes && entries) {
    const auto lease = journal->acquire(kRecorded);
    ASSERT_TRUE(lease) << lease.error().message;
    const auto appended = append_one(*journal, *lease, found, 100);
    if (is_cut && !appended && appended.error().kind() == ErrorKind::kCorrupt) return;
    EXPECT_TRUE(appended) << appended.error().message;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kSoon);
}

void open_one(const Recording& recording, const testing::MemoryFolder& folder, std::uint64_t seed) {
  Random random(seed);
  FilesState state =
      state_after(recording, random.below(recording.changes.size() + 1), random.once_in(2), random);
  mistreat_index(state, recording, random);
  const bool is_cut = state.has_log && random.once_in(4);
  if (is_cut) state.log.resize(random.once_in(2) ? random.below(100) : random.below(state.log.size() + 1));
  const std::string path = folder / "j";
  for (const bool writes : {false, true}) {
    for (const char* part : {"", "-wal", "-shm", ".owners", ".head"}) std::filesystem::remove(path + part);
    put(path, state.file);
    if (state.has_log) put(path + "-wal", state.log);
    if (state.has_index) put(path + "-shm", state.index);
    open_state(path, state, writes, is_cut);
  }
}

}  // namespace

Fault files_fault() {
  return {
      .name = "files",
      .breaks =
          "the files are left as a kill, a power loss or a cut of the log can leave them, with a sound, "
          "stale, zero, cut or missing index",
      .holds = "reader and writer open them at once; what was acknowledged is there unless the log was cut",
      .few = 2'000,
      .many = 100'000,
      .start = [] {
        auto folder = std::make_shared<testing::MemoryFolder>();
        auto recording = std::make_shared<Recording>(record(*folder / "recorded"));
        return [folder, recording](std::uint64_t seed) { open_one(*recording, *folder, seed); };
      }};
}

}  // namespace praxis::faults

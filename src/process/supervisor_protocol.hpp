// What the library and its supervisor (src/sandbox) say to each other. Both are of one build, so plain
// structs do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::supervisor {

/// The descriptors with which the supervisor is started, besides standard input. All others are closed.
enum Descriptor : int {
  kControl = 3,              ///< socket to the library; its end is the library's end
  kChannel = 4,              ///< becomes descriptor 3 of the command, if it is to have a channel
  kImage = 5,                ///< the supervisor's own program
  kRequest = 6,              ///< an encoded `Request`
  kBubblewrapArguments = 7,  ///< what bubblewrap reads as its options
  kFirstFree = 8,
};
/// Where the first program in the sandbox says how it went; the image and the request are where they were.
inline constexpr int kSandboxStatus = 4;

/// Zero means no limit.
struct Limits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t processes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t open_files = 0;
};

struct Settings {
  Limits limits;
  std::uint64_t output_bytes = 0;  ///< kept of each stream
  std::int64_t wall_ms = 0;
  std::int64_t grace_ms = 0;
  std::uint32_t sandbox_user =
      0;  ///< user and group of what runs in the sandbox, when the supervisor is root
  bool channel = false;
  bool sandboxed = false;
  bool network = false;  ///< by way of `Request::proxy`
};

/// Where loans appear: a folder that every machine has.
inline constexpr const char* kLoans = "/run";

/// A folder or file that root lends to the user of the sandbox: it appears at `place` as if it were that
/// user's.
struct Loan {
  std::string source;
  std::string place;
};

/// A path that must exist while the sandbox does, so that something can be mounted over it.
struct Guard {
  std::string path;
  bool folder = false;
};

struct Request {
  Settings settings;
  std::string folder;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< `NAME=value`
  std::vector<std::string> writable;     ///< what Landlock lets the command write below
  std::vector<Loan> loans;
  std::vector<Guard> guards;
  std::string proxy;  ///< path in the sandbox of the socket that leads to the network
};

std::string encode(const Request& request);
/// Nothing when `bytes` are no encoded request.
std::optional<Request> decode(std::string_view bytes);

/// What the supervisor was doing when it failed.
enum class Stage : std::uint32_t {
  kNone,
  kRequest,
  kGuard,
  kLoan,
  kProcess,
  kFolder,
  kLimits,
  kSandbox,
  kForwarder,
  kLandlock,
  kSeccomp,
  kExec,
};

/// From the command's side to the supervisor: `kNone` just before the program is started.
struct Progress {
  Stage stage = Stage::kNone;
  std::int32_t error = 0;  ///< errno
};

enum class Kind : std::uint32_t { kStarted, kFailed, kEnded };
enum class End : std::uint32_t { kExited, kSignalled, kTimedOut, kStopped };

/// How much of an output stream there was, and how much of it follows.
struct StreamSizes {
  std::uint64_t total = 0;
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
};

/// From supervisor to library, followed by the bytes whose lengths it names. `kStarted` or `kFailed` comes
/// first, `kEnded` when nothing of the command is left.
struct Message {
  Kind kind = Kind::kStarted;
  Progress failure = {};    ///< of `kFailed`; its text stands in `err`
  End end = End::kExited;   ///< of `kEnded`, like all below
  std::int32_t status = 0;  ///< exit status or signal
  std::int64_t duration_ms = 0;
  StreamSizes out = {};
  StreamSizes err = {};
};

/// From library to supervisor: end everything. Closing the socket means the same.
inline constexpr char kStop = 's';

}  // namespace praxis::supervisor

// The messages between the library and its supervisor (src/process/supervisor). Both come from one build, so
// plain structs suffice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace praxis::supervisor {

/// The descriptors that the supervisor is started with, in addition to standard input. All others are closed.
enum Descriptor : int {
  kControl = 3,              ///< socket to the library; closed when the library's process ends
  kChannel = 4,              ///< becomes descriptor 3 of the command, if it has a channel
  kImage = 5,                ///< the supervisor's own program
  kRequest = 6,              ///< an encoded `Request`
  kBubblewrapArguments = 7,  ///< the options of bubblewrap
  kFirstFree = 8,
};
/// Descriptor on which the first program in the sandbox reports its progress; the image and the request keep
/// their descriptors.
inline constexpr int kSandboxStatus = 4;

/// Zero means no limit.
struct Limits {
  std::uint64_t cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  ///< of each process, and of all processes of a sandbox together
  std::uint64_t processes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t open_files = 0;
};

struct Settings {
  Limits limits;
  std::uint64_t output_bytes = 0;  ///< kept for each stream
  std::int64_t wall_ms = 0;
  std::int64_t grace_ms = 0;
  std::uint32_t sandbox_user =
      /// User and group of the sandbox's processes, if the supervisor runs as root.
      0;
  bool channel = false;
  bool channel_is_stdio = false;  ///< the channel becomes standard input and output instead
  bool sandboxed = false;
  bool network = false;  ///< through `Request::proxy`
};

/// The folder that loans are mounted in; it exists on every machine.
inline constexpr const char* kLoans = "/run";

/// A folder or file of root's that is mounted at `place` with its owner mapped to the user of the sandbox.
struct Loan {
  std::string source;
  std::string place;
  bool plain = false;  ///< mounted read-only and as it is, if it exists
};

/// A file or folder below a loan that is mounted on itself: read-only, or so that it cannot be renamed. The
/// supervisor needs three system calls for that, where bubblewrap reads the whole mount table.
struct Cover {
  std::uint32_t loan = 0;  ///< its index in `Request::loans`
  std::string path;        ///< relative to the loan
  bool read_only = false;
};

/// A path that must exist while the sandbox does, so that something can be mounted over it.
struct Guard {
  std::string path;
  bool folder = false;
};

/// A mount that the first program in the sandbox verifies before the command starts: while the sandbox was
/// built, another program may have put something else at its path.
struct Mount {
  std::string path;          ///< in the sandbox
  std::uint64_t device = 0;  ///< what must be there; 0: anything but a link
  std::uint64_t inode = 0;
  bool read_only = false;
};

struct Request {
  Settings settings;
  std::string folder;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  ///< `NAME=value`
  std::vector<std::string> writable;     ///< folders that Landlock lets the command write
  std::vector<Loan> loans;
  std::vector<Cover> covers;
  std::vector<Guard> guards;
  std::vector<Mount> mounts;
  std::string proxy;  ///< path in the sandbox of the socket that leads to the network
};

std::string encode(const Request& request);
/// Returns `std::nullopt` if `bytes` are not an encoded request.
std::optional<Request> decode(std::string_view bytes);

/// The stage of starting a command that failed.
enum class Stage : std::uint32_t {
  kNone,
  kRequest,
  kGuard,
  kLoan,
  kProcess,
  kFolder,
  kLimits,
  kSandbox,
  kMount,
  kForwarder,
  kLandlock,
  kSeccomp,
  kExec,
};

/// Sent by the command's side to the supervisor: `kNone` just before the program is executed.
struct Progress {
  Stage stage = Stage::kNone;
  std::int32_t error = 0;  ///< errno
};

enum class Kind : std::uint32_t { kStarted, kFailed, kEnded };
enum class End : std::uint32_t { kExited, kSignalled, kTimedOut, kStopped, kOutOfMemory };

/// The size of an output stream, and how many bytes of it follow.
struct StreamSizes {
  std::uint64_t total = 0;
  std::uint32_t head = 0;
  std::uint32_t tail = 0;
};

/// Sent by the supervisor to the library, followed by the bytes whose lengths it gives. `kStarted` or
/// `kFailed` comes first, `kEnded` when no process of the command is left.
struct Message {
  Kind kind = Kind::kStarted;
  Progress failure = {};      ///< for `kFailed`; its text is in `err`
  End end = End::kExited;     ///< for `kEnded`, like all below
  std::int32_t status = 0;    ///< exit status or signal
  bool memory_group = false;  ///< a control group bounded the memory
  std::int64_t duration_ms = 0;
  StreamSizes out = {};
  StreamSizes err = {};
};

/// Sent by the library to the supervisor: end all processes. Closing the socket has the same effect.
inline constexpr char kStop = 's';

}  // namespace praxis::supervisor

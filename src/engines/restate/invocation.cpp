#include "engines/restate/invocation.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "base/base64url.hpp"
#include "base/protobuf_fields.hpp"
#include "engines/restate/frames.hpp"

namespace praxis::restate {
namespace {

// Numbers of fields in protocol.proto of Restate's sdk-shared-core.
constexpr std::uint32_t kValueContent = 1;
constexpr std::uint32_t kResultCompletion = 11;

std::unexpected<Error> violation(std::string what) {
  return fail(ErrorCode::kInput, ErrorKind::kProtocol, std::move(what));
}

using EachField = std::function<Status(const ProtobufField&)>;

Status for_each_field(std::string_view message, const EachField& take) {
  ProtobufReader reader(message);
  while (true) {
    const auto field = reader.next();
    if (!field) return fail(field.error());
    if (!*field) return {};
    if (auto taken = take(**field); !taken) return taken;
  }
}

std::uint32_t small(const ProtobufField& field) { return static_cast<std::uint32_t>(field.value); }

/// The content of a `Value`.
Result<std::string> content_of(std::string_view value) {
  std::string content;
  auto read = for_each_field(value, [&](const ProtobufField& field) -> Status {
    if (field.number == kValueContent) content = field.bytes;
    return {};
  });
  return read ? Result<std::string>(std::move(content)) : fail(read.error());
}

/// One entry of `StartMessage.state_map`.
Status read_state(std::string_view entry, Invocation& invocation) {
  std::string_view key, value;
  auto read = for_each_field(entry, [&](const ProtobufField& field) -> Status {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
    return {};
  });
  if (key == kAwakeableState) invocation.awakeable = value;
  return read;
}

Result<std::uint32_t> read_start(std::string_view message, Invocation& invocation) {
  std::uint32_t entries = 0;
  auto read = for_each_field(message, [&](const ProtobufField& field) -> Status {
    if (field.number == 1) invocation.id = field.bytes;
    if (field.number == 2) invocation.name = field.bytes;
    if (field.number == 3) entries = small(field);
    if (field.number == 4) return read_state(field.bytes, invocation);
    if (field.number == 6) invocation.key = field.bytes;
    return {};
  });
  if (!read) return fail(read.error());
  if (invocation.id.empty()) return violation("the start names no invocation");
  return entries;
}

/// The ids and results of a command or notification; each kind uses some of them.
struct EntryFields {
  std::uint32_t first = 0;  ///< completion id of a notification, wake-up time of a sleep is in `time`
  std::uint64_t time = 0;
  std::uint32_t signal = 0;
  std::uint32_t completion = 0;  ///< of a command
  std::optional<std::string> value = {};
};

Result<EntryFields> read_entry(std::string_view message) {
  EntryFields entry;
  auto read = for_each_field(message, [&](const ProtobufField& field) -> Status {
    constexpr std::uint32_t kValue = 5;
    if (field.number == 1) entry.first = small(field);
    if (field.number == 1) entry.time = field.value;
    if (field.number == 2) entry.signal = small(field);
    if (field.number == kResultCompletion) entry.completion = small(field);
    if (field.number != kValue) return {};
    auto content = content_of(field.bytes);
    if (!content) return fail(content.error());
    entry.value = *std::move(content);
    return {};
  });
  return read ? Result<EntryFields>(std::move(entry)) : fail(read.error());
}

Status take_command(FrameType type, const EntryFields& entry, Invocation& invocation) {
  invocation.next_completion = std::max(invocation.next_completion, entry.completion + 1);
  if (type == FrameType::kOutput) invocation.has_output = true;
  if (type == FrameType::kRun) {
    if (invocation.open_run) return violation("two runs are open");
    invocation.open_run = entry.completion;
  }
  if (type == FrameType::kSleep) {
    invocation.open_sleep = OpenSleep{entry.completion, UnixMillis{static_cast<std::int64_t>(entry.time)}};
    ++invocation.sleeps;
  }
  return {};
}

Status take_run(EntryFields&& entry, Invocation& invocation) {
  if (invocation.open_run != entry.first) return violation("a run completed that is not open");
  if (!entry.value) return violation("a run has no value");
  invocation.open_run.reset();
  invocation.batches.push_back(*std::move(entry.value));
  invocation.sleeps = 0;
  return {};
}

Status take_entry(const Frame& frame, Invocation& invocation) {
  auto entry = frame.type == FrameType::kInput ? EntryFields{} : read_entry(frame.message);
  if (!entry) return fail(entry.error());
  switch (frame.type) {
    case FrameType::kInput:
      return {};
    case FrameType::kOutput:
    case FrameType::kRun:
    case FrameType::kSleep:
    case FrameType::kSetState:
    case FrameType::kClearState:
    case FrameType::kCompleteAwakeable:
      return take_command(frame.type, *entry, invocation);
    case FrameType::kRunCompletion:
      return take_run(*std::move(entry), invocation);
    case FrameType::kSleepCompletion:
      if (invocation.open_sleep && invocation.open_sleep->completion == entry->first)
        invocation.open_sleep.reset();
      return {};
    case FrameType::kSignal:
      if (entry->signal == kCancelSignal) invocation.cancelled = true;
      if (entry->signal >= kFirstAwakeable)
        invocation.next_signal = std::max(invocation.next_signal, entry->signal + 1);
      return {};
    default:
      return violation("the log has an entry that Praxis never writes");
  }
}

std::string value_message(std::string_view content) {
  std::string value;
  if (!content.empty()) put_bytes_field(value, kValueContent, content);
  return value;
}

/// What a suspension waits for, in the packed form.
void put_awaited(std::string& message, std::uint32_t number, std::initializer_list<std::uint32_t> ids) {
  std::string packed;
  for (const std::uint32_t id : ids) put_varint(packed, id);
  put_bytes_field(message, number, packed);
}

/// A frame whose message is written by `write`.
void put(std::string& out, FrameType type, const std::function<void(std::string&)>& write = nullptr) {
  std::string message;
  if (write) write(message);
  put_frame(out, type, message);
}

void put_output(std::string& out) {
  put(out, FrameType::kOutput, [](std::string& message) {
    constexpr std::uint32_t kValue = 14;
    put_bytes_field(message, kValue, value_message(""));
  });
}

}  // namespace

Result<Invocation> read_invocation(std::string_view body) {
  const auto frames = read_frames(body);
  if (!frames) return fail(frames.error());
  if (frames->empty() || frames->front().type != FrameType::kStart)
    return violation("the request begins with no start");
  Invocation invocation;
  const auto entries = read_start(frames->front().message, invocation);
  if (!entries) return fail(entries.error());
  if (*entries != frames->size() - 1) return violation("the request lacks entries that its start promises");
  for (std::size_t i = 1; i < frames->size(); ++i) {
    if (auto taken = take_entry((*frames)[i], invocation); !taken) return fail(taken.error());
  }
  return invocation;
}

std::string awakeable_id(const Invocation& invocation, std::uint32_t signal) {
  std::string bytes = invocation.id;
  constexpr unsigned kTop = 24;
  for (unsigned shift = kTop;; shift -= 8) {
    bytes += static_cast<char>(signal >> shift & 0xFFU);
    if (shift == 0) break;
  }
  return "sign_1" + base64url_encode(bytes);
}

std::string propose(const Invocation& invocation, std::string_view batch) {
  std::string out;
  const std::uint32_t run = invocation.open_run.value_or(invocation.next_completion);
  if (!invocation.open_run) {
    put(out, FrameType::kRun, [&](std::string& message) {
      constexpr std::uint32_t kName = 12;
      put_number_field(message, kResultCompletion, run);
      put_bytes_field(message, kName, "records");
    });
  }
  put(out, FrameType::kProposeRunCompletion, [&](std::string& message) {
    constexpr std::uint32_t kValue = 14;
    put_number_field(message, 1, run);
    put_bytes_field(message, kValue, batch);
  });
  put(out, FrameType::kSuspension, [&](std::string& message) { put_awaited(message, 1, {run}); });
  return out;
}

std::string suspend(const Invocation& invocation, UnixMillis until) {
  std::string out;
  const std::string id = awakeable_id(invocation, invocation.next_signal);
  if (invocation.awakeable != id) {
    put(out, FrameType::kSetState, [&](std::string& message) {
      put_bytes_field(message, 1, kAwakeableState);
      put_bytes_field(message, 3, value_message(id));
    });
  }
  const std::uint32_t sleep =
      invocation.open_sleep ? invocation.open_sleep->completion : invocation.next_completion;
  if (!invocation.open_sleep) {
    put(out, FrameType::kSleep, [&](std::string& message) {
      put_number_field(message, 1, static_cast<std::uint64_t>(until.value));
      put_number_field(message, kResultCompletion, sleep);
    });
  }
  put(out, FrameType::kSuspension, [&](std::string& message) {
    put_awaited(message, 1, {sleep});
    if (invocation.cancelled) return put_awaited(message, 2, {invocation.next_signal});
    put_awaited(message, 2, {invocation.next_signal, kCancelSignal});
  });
  return out;
}

std::string finish(const Invocation& invocation) {
  std::string out;
  if (!invocation.has_output) {
    if (!invocation.awakeable.empty()) {
      put(out, FrameType::kClearState,
          [](std::string& message) { put_bytes_field(message, 1, kAwakeableState); });
    }
    put_output(out);
  }
  put(out, FrameType::kEnd);
  return out;
}

std::string wake(const Invocation& invocation) {
  std::string out;
  if (!invocation.has_output) {
    if (!invocation.awakeable.empty()) {
      put(out, FrameType::kCompleteAwakeable, [&](std::string& message) {
        put_bytes_field(message, 1, invocation.awakeable);
        put_bytes_field(message, 2, value_message(""));
      });
    }
    put_output(out);
  }
  put(out, FrameType::kEnd);
  return out;
}

std::string refuse(std::string_view message, Millis delay) {
  std::string out;
  put(out, FrameType::kError, [&](std::string& error) {
    constexpr std::uint32_t kServerError = 500;
    constexpr std::uint32_t kDelay = 8;
    put_number_field(error, 1, kServerError);
    put_bytes_field(error, 2, message);
    put_number_field(error, kDelay, static_cast<std::uint64_t>(delay.count()));
  });
  return out;
}

}  // namespace praxis::restate

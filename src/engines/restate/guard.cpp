#include "engines/restate/guard.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/base64url.hpp"
#include "base/protobuf_fields.hpp"
#include "engines/restate/frames.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis::restate {
namespace {

constexpr std::uint64_t kLatestMoment = 253'402'300'799'999;  // the end of the year 9999, in ms

std::unexpected<Error> illegal(std::string what) {
  return fail(ErrorCode::kInternal, "an answer for Restate was held back: " + std::move(what));
}

Result<std::vector<ProtobufField>> fields_of(std::string_view message) {
  std::vector<ProtobufField> fields;
  ProtobufReader reader(message);
  while (true) {
    const auto field = reader.next();
    if (!field) return illegal(field.error().message);
    if (!*field) return fields;
    fields.push_back(**field);
  }
}

/// What an answer has said so far.
class AnswerCheck {
 public:
  explicit AnswerCheck(const Invocation& known)
      : next_completion_(known.next_completion), open_run_(known.open_run) {
    outputs_ = known.has_output ? 1 : 0;
    if (known.open_sleep) sleeps_.insert(known.open_sleep->completion);
  }

  Status take(const Frame& frame) {
    if (frame.flags != 0) return illegal("a frame with flags");
    if (frame.message.size() > kMostFrameBytes) return illegal("a frame that is too large");
    if (ended_) return illegal("a frame after the last one");
    auto fields = fields_of(frame.message);
    if (!fields) return fail(fields.error());
    fields_ = *std::move(fields);
    const bool ends = frame.type == FrameType::kEnd || frame.type == FrameType::kError;
    if (outputs_ > 0 && !ends) return illegal("a frame after the output");
    return dispatch(frame.type);
  }

  Status end() const { return ended_ ? Status() : illegal("an answer without an end"); }

 private:
  Status dispatch(FrameType type) {
    switch (type) {
      case FrameType::kSuspension:
        return suspension();
      case FrameType::kError:
        ended_ = true;
        return knows({1, 2, 8});
      case FrameType::kEnd:
        ended_ = true;
        return outputs_ == 1 && fields_.empty() ? Status() : illegal("an end without an output");
      case FrameType::kOutput:
        ++outputs_;
        return only_bytes(14) ? Status() : illegal("an output without a value");
      case FrameType::kRun:
        return run();
      case FrameType::kProposeRunCompletion:
        return proposal();
      case FrameType::kSleep:
        return sleep();
      case FrameType::kSetState:
        return knows({1, 3}) && bytes(3) ? state_key() : illegal("a state without a value");
      case FrameType::kClearState:
        return knows({1}) ? state_key() : illegal("a state that is cleared has a value");
      case FrameType::kCompleteAwakeable:
        return awakeable();
      default:
        return illegal("a frame of type " + std::to_string(static_cast<unsigned>(type)));
    }
  }

  // ---- fields of the present frame

  const ProtobufField* one(std::uint32_t number, ProtobufWire wire) const {
    const auto has = [&](const ProtobufField& field) { return field.number == number; };
    const auto found = std::ranges::find_if(fields_, has);
    if (found == fields_.end() || std::ranges::count_if(fields_, has) != 1 || found->wire != wire)
      return nullptr;
    return &*found;
  }
  const ProtobufField* bytes(std::uint32_t number) const { return one(number, ProtobufWire::kBytes); }
  const ProtobufField* number(std::uint32_t number) const { return one(number, ProtobufWire::kVarint); }
  bool only_bytes(std::uint32_t number) const { return fields_.size() == 1 && bytes(number) != nullptr; }

  Status knows(std::initializer_list<std::uint32_t> numbers) const {
    const bool all = std::ranges::all_of(fields_, [&](const ProtobufField& field) {
      return std::ranges::find(numbers, field.number) != numbers.end();
    });
    return all ? Status() : illegal("a frame with a field that Praxis never writes");
  }

  /// The id of a new completion: each is used once, in order.
  Result<std::uint32_t> new_completion() {
    const ProtobufField* const field = number(11);
    if (field == nullptr || field->value != next_completion_) return illegal("a completion id out of order");
    return next_completion_++;
  }

  /// The numbers of a packed field; empty if it is missing.
  Result<std::vector<std::uint64_t>> packed(std::uint32_t number) const {
    std::vector<std::uint64_t> values;
    const bool is_missing =
        std::ranges::none_of(fields_, [&](const ProtobufField& field) { return field.number == number; });
    if (is_missing) return values;
    const ProtobufField* const field = bytes(number);
    if (field == nullptr) return illegal("a list that is not packed");
    // As fields of one number each, so that one reader does for both.
    std::string message;
    for (std::size_t at = 0; at < field->bytes.size(); ++at) {
      const bool begins = at == 0 || (static_cast<unsigned char>(field->bytes[at - 1]) & 0x80U) == 0;
      if (begins) put_tag(message, 1, ProtobufWire::kVarint);
      message += field->bytes[at];
    }
    const auto fields = fields_of(message);
    if (!fields) return fail(fields.error());
    for (const ProtobufField& each : *fields) values.push_back(each.value);
    return values;
  }

  // ---- frames

  Status run() {
    if (open_run_) return illegal("a second run");
    const auto completion = new_completion();
    if (!completion) return fail(completion.error());
    if (const ProtobufField* const name = bytes(12); name == nullptr || !is_valid_utf8(name->bytes))
      return illegal("a run without a name");
    open_run_ = *completion;
    return knows({11, 12});
  }

  Status proposal() {
    const ProtobufField* const run = number(1);
    if (run == nullptr || open_run_ != run->value || proposed_)
      return illegal("a proposal for a run that is not open");
    if (fields_.size() != 2 || bytes(14) == nullptr) return illegal("a proposal without a value");
    proposed_ = true;
    return {};
  }

  Status sleep() {
    const auto completion = new_completion();
    if (!completion) return fail(completion.error());
    const ProtobufField* const time = number(1);
    if (time == nullptr || time->value == 0 || time->value > kLatestMoment)
      return illegal("a sleep until an impossible moment");
    sleeps_.insert(*completion);
    return knows({1, 11});
  }

  Status state_key() const {
    const ProtobufField* const key = bytes(1);
    if (key == nullptr || key->bytes.empty() || !is_valid_utf8(key->bytes))
      return illegal("a state key that is not UTF-8");
    return {};
  }

  Status awakeable() const {
    constexpr std::string_view kPrefix = "sign_1";
    constexpr std::size_t kInvocationIdBytes = 24;
    const ProtobufField* const id = bytes(1);
    if (id == nullptr || !id->bytes.starts_with(kPrefix) || bytes(2) == nullptr || fields_.size() != 2)
      return illegal("an awakeable without an id or a value");
    const auto decoded = base64url_decode(id->bytes.substr(kPrefix.size()));
    if (!decoded || decoded->size() != kInvocationIdBytes + 4) return illegal("an id of no awakeable");
    const std::string_view signal = std::string_view(*decoded).substr(kInvocationIdBytes);
    if (signal < std::string_view("\0\0\0\x11", 4)) return illegal("an awakeable with a reserved signal");
    return {};
  }

  Status suspension() {
    const auto completions = packed(1), signals = packed(2);
    if (!completions || !signals) return illegal("a suspension that cannot be read");
    if (completions->empty() && signals->empty()) return illegal("a suspension that waits for nothing");
    for (const std::uint64_t id : *completions) {
      const bool is_proposed = proposed_ && open_run_ == id;
      if (!is_proposed && !sleeps_.contains(id)) return illegal("a suspension on what never completes");
    }
    for (const std::uint64_t id : *signals) {
      if (id != kCancelSignal && (id < kFirstAwakeable || id > UINT32_MAX))
        return illegal("a suspension on a reserved signal");
    }
    if (open_run_ && !proposed_ && signals->empty()) return illegal("a suspension with an open run");
    ended_ = true;
    return knows({1, 2});
  }

  std::vector<ProtobufField> fields_;
  std::uint32_t next_completion_;
  std::optional<std::uint32_t> open_run_;
  std::set<std::uint64_t> sleeps_;
  int outputs_ = 0;
  bool proposed_ = false;
  bool ended_ = false;
};

}  // namespace

Status check_answer(const Invocation& invocation, std::string_view answer) {
  const auto frames = read_frames(answer);
  if (!frames) return illegal(frames.error().message);
  AnswerCheck check(invocation);
  for (const Frame& frame : *frames) {
    if (auto taken = check.take(frame); !taken) return taken;
  }
  return check.end();
}

}  // namespace praxis::restate

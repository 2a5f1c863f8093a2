#include "tools/python_bridge.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/worker_pool.hpp"

namespace praxis {
namespace {

std::unexpected<Error> out_of_time() {
  return fail(make_error(ErrorCode::kLimit, ErrorKind::kTimeout, "it timed out"));
}

/// The result of a call as the code receives it: the structured value if there is one, else the text.
Result<Json> value_of(Result<ToolOutput> output) {
  if (!output) return fail(std::move(output.error()));
  return output->value.is_null() ? Json(output->text) : std::move(output->value);
}

Result<Json> shown_to_python(Result<ToolOutput> output) {
  if (!output) return fail(std::move(output.error()));
  return Json(output->text);
}

}  // namespace

// ---- HeldClock

void HeldClock::hold() {
  if (since_) left_ -= Clock::now() - *std::exchange(since_, std::nullopt);
}

void HeldClock::go_on() {
  if (!since_) since_ = Clock::now();
}

HeldClock::Clock::time_point HeldClock::deadline() const {
  return since_ ? *since_ + left_ : Clock::time_point::max();
}

// ---- PythonAnswers

PythonAnswers::PythonAnswers() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void PythonAnswers::put(std::uint64_t id, const Result<Json>& answer) {
  std::string line = python_answer_line(id, answer);
  {
    const std::lock_guard lock(mutex_);
    answers_.push_back({id, std::move(line)});
  }
  wake();
}

std::deque<PythonAnswers::Answer> PythonAnswers::take() {
  eventfd_t count = 0;
  eventfd_read(event_.get(), &count);
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void PythonAnswers::wake() const { eventfd_write(event_.get(), 1); }

// ---- PythonBridge

PythonBridge::PythonBridge(ToolContext& context, int channel, Millis time, std::string first_line)
    : context_(context), channel_(channel), clock_(time), to_send_(std::move(first_line)) {}

PythonBridge::~PythonBridge() {
  // The runtime that stops this call also stops its forks, in the way that the reason requires.
  if (context_.stop.stop_requested()) return;
  for (SubAgent& fork : forks_) fork.interrupt();
}

Status PythonBridge::serve() {
  const std::stop_callback on_stop(context_.stop, [this] { answers_->wake(); });
  std::optional<WaitForTasks> waits;  // while the code waits for answers
  for (;;) {
    if (open_.empty()) {
      waits.reset();
    } else if (!waits) {
      waits.emplace();
    }
    const short wanted = static_cast<short>(to_send_.empty() ? POLLIN : POLLIN | POLLOUT);
    std::array<pollfd, 2> ready{{{channel_, wanted, 0}, {answers_->descriptor(), POLLIN, 0}}};
    const auto left = std::chrono::ceil<Millis>(deadline() - HeldClock::Clock::now()).count();
    const auto timeout = std::clamp<std::int64_t>(left, 0, 60'000);
    if (poll(ready.data(), ready.size(), static_cast<int>(timeout)) < 0 && errno != EINTR) {
      return fail(ErrorCode::kInternal, "poll failed on a channel");
    }
    if (context_.stop.stop_requested()) return fail(ErrorCode::kCancelled, "the call was cancelled");
    if (HeldClock::Clock::now() >= deadline()) return out_of_time();
    if (ready[1].revents != 0) collect_answers();
    if (ready[0].revents & POLLOUT) send_some();
    if ((ready[0].revents & ~POLLOUT) == 0) continue;
    auto more = receive();
    if (!more) return fail(std::move(more.error()));
    if (!*more) break;
  }
  clock_.go_on();
  return {};
}

Result<bool> PythonBridge::receive() {
  std::array<char, 65536> bytes;
  const ssize_t got = recv(channel_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  received_.append(bytes.data(), static_cast<std::size_t>(got));
  std::size_t begin = 0;
  for (std::size_t end; (end = received_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (auto taken = take_line(std::string_view(received_).substr(begin, end - begin)); !taken) {
      return fail(std::move(taken.error()));
    }
  }
  received_.erase(0, begin);
  if (received_.size() <= kMaxPythonLine) return true;
  return fail(ErrorCode::kTool, "the code sent a line of more than " + std::to_string(kMaxPythonLine) +
                                    " bytes through descriptor 3");
}

Status PythonBridge::take_line(std::string_view line) {
  auto requests = parse_python_requests(line);
  if (!requests) return fail(std::move(requests.error()));
  if (auto admitted = admit(*requests); !admitted) return admitted;
  std::vector<PythonRequest> calls;
  for (PythonRequest& request : *requests) {
    if (const auto* asked = std::get_if<PythonFork>(&request.what)) {
      fork(request.id, *asked);
    } else if (const auto* forked = std::get_if<PythonWait>(&request.what)) {
      wait(request.id, *forked);
    } else {
      calls.push_back(std::move(request));
    }
  }
  if (!calls.empty()) call(calls);
  return {};
}

/// Marks the requests as open; from here on, the code waits for their answers.
Status PythonBridge::admit(const std::vector<PythonRequest>& requests) {
  for (const PythonRequest& request : requests) {
    if (!open_.insert(request.id).second) {
      return fail(ErrorCode::kTool, "the code reused the id of an open request");
    }
  }
  if (open_.size() > kMaxOpenPythonRequests) {
    return fail(ErrorCode::kTool, "the code has more than " + std::to_string(kMaxOpenPythonRequests) +
                                      " requests open at once");
  }
  admitted_ += requests.size();
  if (admitted_ > kMaxPythonRequests) {
    return fail(ErrorCode::kLimit, "the code made more than " + std::to_string(kMaxPythonRequests) +
                                       " requests; let it do less in one run");
  }
  clock_.hold();
  return {};
}

void PythonBridge::refuse(std::uint64_t id, std::string why) {
  answers_->put(id, fail(ErrorCode::kInput, std::move(why)));
}

void PythonBridge::call(const std::vector<PythonRequest>& requests) {
  std::vector<InnerCall> calls;
  std::vector<std::uint64_t> ids;
  for (const PythonRequest& request : requests) {
    const auto& asked = std::get<PythonCall>(request.what);
    if (!context_.scope) {
      refuse(request.id, "the code does not run for an agent, so there are no tools");
    } else if (asked.tool == kPythonToolName) {
      refuse(request.id, "code cannot run other code through a tool; call a function instead");
    } else {
      calls.push_back({asked.tool, asked.arguments});
      ids.push_back(request.id);
    }
  }
  if (calls.empty()) return;
  context_.scope->call_all(std::move(calls), [answers = answers_, ids = std::move(ids)](
                                                 std::size_t index, Result<ToolOutput> output) {
    answers->put(ids[index], value_of(std::move(output)));
  });
}

void PythonBridge::fork(std::uint64_t id, const PythonFork& request) {
  SubAgent forked = context_.fork(request.prompt);
  if (forked.session_id().empty()) return answers_->put(id, shown_to_python(as_output(forked.report())));
  forks_.push_back(std::move(forked));
  answers_->put(id, Json(forks_.size()));
}

void PythonBridge::wait(std::uint64_t id, const PythonWait& request) {
  if (request.fork > forks_.size()) return refuse(id, "there is no fork " + std::to_string(request.fork));
  forks_[request.fork - 1].on_end([answers = answers_, id](Result<AgentResult> report) {
    answers->put(id, shown_to_python(as_output(std::move(report))));
  });
}

void PythonBridge::collect_answers() {
  for (PythonAnswers::Answer& answer : answers_->take()) {
    to_send_ += answer.line;
    open_.erase(answer.id);
  }
  if (open_.empty()) clock_.go_on();
}

void PythonBridge::send_some() {
  const ssize_t sent = send(channel_, to_send_.data(), to_send_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) to_send_.erase(0, static_cast<std::size_t>(sent));
}

}  // namespace praxis

#include "tools/postgres_link.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "praxis/base/reach.hpp"

namespace praxis {
namespace {

Error stopped_error() {
  return with_reach(make_error(ErrorCode::kCancelled, "the statement was stopped; it changed nothing"),
                    Reach::kNotSent);
}

Error late_error() {
  return with_reach(
      make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                 "the statement took too long and was stopped; it changed nothing. Select less"),
      Reach::kNotSent);
}

bool is_good(int status) {
  return status == pq::kCommandOk || status == pq::kTuplesOk || status == pq::kSingleTuple;
}

/// The parameters in the form of libpq; valid as long as the values.
struct PostgresArguments {
  explicit PostgresArguments(const std::vector<PostgresParameter>& from) {
    for (const PostgresParameter& each : from) {
      values.push_back(each.value ? each.value->c_str() : nullptr);
      lengths.push_back(each.value ? static_cast<int>(each.value->size()) : 0);
      formats.push_back(each.is_binary ? pq::kBinary : 0);
    }
  }
  int count() const { return static_cast<int>(values.size()); }

  std::vector<const char*> values;
  std::vector<int> lengths, formats;
};

}  // namespace

CallEnd::WakeFile::WakeFile() : file(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

CallEnd::WakeFile::~WakeFile() { close(file); }

CallEnd::CallEnd(const SqlStop& stop, std::chrono::milliseconds timeout)
    : deadline_(std::chrono::steady_clock::now() + timeout), on_stop_(stop.stop, [this] {
        const std::uint64_t one = 1;
        std::ignore = write(wake_.file, &one, sizeof one);
      }) {
  if (stop.deadline != std::chrono::steady_clock::time_point{})
    deadline_ = std::min(deadline_, stop.deadline);
}

std::chrono::milliseconds CallEnd::left() const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(0));
}

void CallEnd::finish_within(std::chrono::milliseconds longer) {
  heeds_stop_ = false;
  deadline_ = std::max(deadline_, std::chrono::steady_clock::now() + longer);
}

CallEnd::Wake CallEnd::wait(int file, short events) const {
  while (true) {
    std::array<pollfd, 2> inputs = {{{file, events, 0}, {heeds_stop_ ? wake_.file : -1, POLLIN, 0}}};
    const auto limit = std::min<std::int64_t>(left().count(), 60'000);
    const int ready = poll(inputs.data(), inputs.size(), static_cast<int>(limit));
    if (ready < 0 && errno == EINTR) continue;
    if (inputs[1].revents != 0) return Wake::kStopped;
    if (ready != 0) return Wake::kReady;
    if (left().count() == 0) return Wake::kLate;
  }
}

Result<PostgresLink> PostgresLink::open(const std::string& address, bool reads_only, const CallEnd& end,
                                        std::size_t max_answer) {
  const auto library = pq::load();
  if (!library) return fail(library.error());
  const auto [keywords, values] = pq::connect_settings(address, reads_only);
  PostgresLink link(*library, (*library)->connectStartParams(keywords.data(), values.data(), 1), address, end,
                    max_answer);
  if (auto connected = link.connect(); !connected) return fail(std::move(connected.error()));
  return link;
}

Status PostgresLink::connect() {
  if (handle_ == nullptr)
    return fail(ErrorCode::kTool, ErrorKind::kIo, "there is no memory for a connection");
  int wanted = library_->status(handle_.get()) == 1 ? 0 : pq::kPollWriting;  // 1: CONNECTION_BAD
  while (wanted == pq::kPollReading || wanted == pq::kPollWriting) {
    const short events = wanted == pq::kPollReading ? POLLIN : POLLOUT;
    const CallEnd::Wake woken = end_->wait(library_->socket(handle_.get()), events);
    if (woken == CallEnd::Wake::kStopped) return fail(stopped_error());
    if (woken == CallEnd::Wake::kLate) {
      return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                                        "the database " + address_ + " does not answer", true),
                             Reach::kNotSent));
    }
    wanted = library_->connectPoll(handle_.get());
  }
  if (wanted != pq::kPollOk) return fail(lost_error());
  library_->setNoticeProcessor(handle_.get(), [](void*, const char*) {}, nullptr);
  if (library_->setnonblocking(handle_.get(), 1) != 0) return fail(lost_error());
  valve_ = PostgresValve::before(library_->socket(handle_.get()));
  if (!valve_) {
    return fail(with_reach(make_error(ErrorCode::kTool, ErrorKind::kIo,
                                      "no file descriptor is left for the database " + address_, true),
                           Reach::kNotSent));
  }
  return {};
}

Error PostgresLink::lost_error() const {
  const std::string why = pq::one_line(library_->errorMessage(handle_.get()));
  return with_reach(make_error(ErrorCode::kTool, ErrorKind::kIo,
                               "cannot use the database " + address_ + ": " +
                                   (why.empty() ? "the connection was lost" : why),
                               true),
                    Reach::kNotSent);
}

/// Also ends the statement on the server when the call ends.
Status PostgresLink::wait(short events) {
  switch (end_->wait(valve_->server(), events)) {
    case CallEnd::Wake::kReady:
      return {};
    case CallEnd::Wake::kStopped:
      cancel();
      return fail(stopped_error());
    case CallEnd::Wake::kLate:
      cancel();
      return fail(late_error());
  }
  std::unreachable();
}

void PostgresLink::cancel() {
  pq::Cancel* const request = library_->getCancel(handle_.get());
  if (request == nullptr) return;
  std::array<char, 256> why{};
  library_->cancel(request, why.data(), static_cast<int>(why.size()));
  library_->freeCancel(request);
}

Status PostgresLink::flush() {
  while (true) {
    const int left = library_->flush(handle_.get());
    if (left < 0) return fail(lost_error());
    const bool is_sent = valve_->let_out();
    if (left == 0 && is_sent) return {};
    // The server may have to be heard before it reads more.
    if (auto ready = wait(POLLIN | POLLOUT); !ready) return ready;
    arrived_ += valve_->let_in();
    if (library_->consumeInput(handle_.get()) != 1) return fail(lost_error());
  }
}

Result<PostgresAnswer> PostgresLink::next() {
  while (library_->isBusy(handle_.get()) != 0) {
    if (!valve_->has_input()) {
      if (auto ready = wait(POLLIN); !ready) return fail(std::move(ready.error()));
      arrived_ += valve_->let_in();
    }
    if (arrived_ > max_answer_) {
      cancel();
      return fail(ErrorCode::kLimit, "a row has more than " + std::to_string(max_answer_) +
                                         " bytes; select fewer columns, or parts with substr()");
    }
    if (library_->consumeInput(handle_.get()) != 1) return fail(lost_error());
  }
  arrived_ = 0;
  PostgresAnswer answer(library_->getResult(handle_.get()), ClearAnswer{library_});
  if (answer && !is_good(library_->resultStatus(answer.get()))) return fail(statement_error(answer.get()));
  if (!answer && library_->status(handle_.get()) != pq::kConnectionOk) return fail(lost_error());
  return answer;
}

Result<PostgresAnswer> PostgresLink::only_answer(int sent) {
  if (sent != 1) return fail(lost_error());
  if (auto flushed = flush(); !flushed) return fail(std::move(flushed.error()));
  auto answer = next();
  while (answer) {
    auto rest = next();
    if (!rest) return rest;
    if (*rest == nullptr) return answer;
  }
  return answer;
}

Result<PostgresAnswer> PostgresLink::ask(const std::string& sql,
                                         const std::vector<PostgresParameter>& values) {
  const PostgresArguments all(values);
  return only_answer(library_->sendQueryParams(handle_.get(), sql.c_str(), all.count(), nullptr,
                                               all.values.data(), all.lengths.data(), all.formats.data(), 0));
}

Result<PostgresAnswer> PostgresLink::describe(const char* name) {
  return only_answer(library_->sendDescribePrepared(handle_.get(), name));
}

Status PostgresLink::start(const char* name, const std::vector<PostgresParameter>& values) {
  const PostgresArguments all(values);
  if (library_->sendQueryPrepared(handle_.get(), name, all.count(), all.values.data(), all.lengths.data(),
                                  all.formats.data(), 0) != 1 ||
      library_->setSingleRowMode(handle_.get()) != 1)
    return fail(lost_error());
  return flush();
}

std::string PostgresLink::text(const PostgresAnswer& answer, int row, int column) const {
  return {library_->getvalue(answer.get(), row, column),
          static_cast<std::size_t>(library_->getlength(answer.get(), row, column))};
}

Error PostgresLink::statement_error(pq::Answer* answer) const {
  const auto field = [&](int which) {
    const char* const text = library_->resultErrorField(answer, which);
    return text == nullptr ? std::string() : pq::one_line(text);
  };
  const std::string state = field(pq::kSqlState), hint = field(pq::kHint), place = field(pq::kPosition);
  const std::string_view group = std::string_view(state).substr(0, 2);
  const std::string message = field(pq::kPrimaryMessage) + (hint.empty() ? "" : ". " + hint);
  Error error = make_error(ErrorCode::kTool, message);
  if (state == "25006") {
    error = make_error(ErrorCode::kPolicy, "this connection only reads: " + message);
  } else if (state == "42501") {
    error = make_error(ErrorCode::kPolicy, "not allowed on this connection: " + message);
  } else if (state == "57014") {
    error = late_error();
  } else if (state == "55P03") {
    error = with_reach(make_error(ErrorCode::kTool, ErrorKind::kTimeout,
                                  "the database stayed locked by another process; nothing was changed"),
                       Reach::kNotSent);
  } else if (group == "53" || group == "54") {
    error = make_error(ErrorCode::kLimit, message);
  } else if (group == "08" || state.starts_with("57P") || state.empty()) {
    error = lost_error();
  }
  return error.set("sqlstate", state).set("position", place);
}

}  // namespace praxis

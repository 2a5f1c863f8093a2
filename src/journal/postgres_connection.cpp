#include "journal/postgres_connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "journal/big_endian.hpp"
#include "journal/chain.hpp"
#include "praxis/json/json.hpp"

namespace praxis {
namespace {

constexpr int kOldestServer = 130000;                      // pg_current_xact_id() and pg_xact_status()
constexpr std::chrono::milliseconds kAnswerLimit{60'000};  // of a server that neither answers nor fails

Error connection_error(const std::string& subject, std::string_view why) {
  return journal_error(ErrorKind::kIo, subject + ": " + pq::one_line(why), true).set("sqlstate", "08006");
}

bool begins_with_any(std::string_view state, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return state.starts_with(start); });
}

/// Shutdown, crash or start of the server; a server that has become a replica.
bool ends_connection(std::string_view state) {
  return begins_with_any(state, {"08", "57P01", "57P02", "57P03", "57P05", "25P03", "25006"});
}

ErrorKind kind_of_state(std::string_view state) {
  if (begins_with_any(state, {"53100", "53200", "54000"})) return ErrorKind::kFull;
  if (begins_with_any(state, {"XX001", "XX002"})) return ErrorKind::kCorrupt;
  if (begins_with_any(state, {"3D000"})) return ErrorKind::kNotFound;
  return ErrorKind::kIo;
}

Error statement_error(const pq::Library& library, pq::Answer* answer, const std::string& subject) {
  const auto field = [&](int which) {
    const char* text = library.resultErrorField(answer, which);
    return std::string(text == nullptr ? "" : text);
  };
  const std::string state = field(pq::kSqlState);
  std::string message = subject + ": " + pq::one_line(field(pq::kPrimaryMessage));
  if (state == "55P03") message += ": another process keeps a lock of it";
  if (!state.empty()) message += " (SQLSTATE " + state + ")";
  const ErrorKind kind = kind_of_state(state);
  return journal_error(kind, std::move(message), kind != ErrorKind::kCorrupt).set("sqlstate", state);
}

}  // namespace

Status check_postgres_address(const std::string& address, std::string_view what) {
  const auto library = pq::load();
  if (!library) return fail(library.error());
  char* why = nullptr;
  pq::Option* options = (*library)->conninfoParse(address.c_str(), &why);
  if (why != nullptr) (*library)->freemem(why);
  if (options == nullptr) {
    return fail(ErrorCode::kInput, "the address of the " + std::string(what) +
                                       " is malformed; it looks like postgres://USER@HOST/DATABASE");
  }
  bool has_password = false;
  for (const pq::Option* each = options; each->keyword != nullptr; ++each) {
    const std::string_view keyword = each->keyword;
    has_password =
        has_password || ((keyword == "password" || keyword == "sslpassword") && each->val != nullptr);
  }
  (*library)->conninfoFree(options);
  if (!has_password) return {};
  return fail(ErrorCode::kInput, "the address of the " + std::string(what) +
                                     " contains a password, which others could see; keep it in ~/.pgpass, "
                                     "in the file that PGPASSFILE names, or in PGPASSWORD");
}

PostgresValue PostgresValue::array(const std::vector<std::string>& elements) {
  PostgresValue value;
  std::string& text = value.text.emplace("{");
  for (const std::string& element : elements) {
    if (text.size() > 1) text += ',';
    text += '"';
    for (const char c : element) {
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += '"';
  }
  text += '}';
  return value;
}

std::string_view PostgresRows::bytes(int row, int column) const {
  const int length = library().getlength(answer_.get(), row, column);
  return {library().getvalue(answer_.get(), row, column), static_cast<std::size_t>(length)};
}

std::int64_t PostgresRows::integer(int row, int column) const {
  return static_cast<std::int64_t>(big_endian(bytes(row, column)));
}

Digest PostgresRows::digest(int row, int column) const {
  Digest digest;
  const std::string_view stored = bytes(row, column);
  if (stored.size() == digest.bytes.size()) std::ranges::copy(stored, digest.bytes.begin());
  return digest;
}

std::uint64_t PostgresRows::changed() const {
  const std::string_view text = library().cmdTuples(answer_.get());
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

Result<PostgresConnection> PostgresConnection::open(const std::string& address, bool reads_only,
                                                    std::string_view what) {
  const auto library = pq::load();
  if (!library) return fail(library.error());
  const auto [keywords, values] = pq::connect_settings(address, reads_only);
  PostgresConnection connection(*library, (*library)->connectdbParams(keywords.data(), values.data(), 1),
                                std::string(what) + ' ' + address);
  if (connection.is_lost()) return fail(connection.lost_error());
  if (auto ready = connection.set_up(); !ready) return fail(std::move(ready.error()));
  return connection;
}

Status PostgresConnection::set_up() {
  library_->setNoticeProcessor(handle_.get(), [](void*, const char*) {}, nullptr);
  if (const int version = library_->serverVersion(handle_.get()); version < kOldestServer) {
    return fail(journal_error(ErrorKind::kVersion, subject_ + ": the server is PostgreSQL " +
                                                       std::to_string(version / 10000) +
                                                       "; 13 or later is needed"));
  }
  // A commit that is confirmed must be on the disk, and a process that is stopped must not keep its locks.
  return status_of(
      run("SELECT set_config('lock_timeout', '10s', false), "
          "set_config('idle_in_transaction_session_timeout', '10s', false), "
          "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN "
          "'on' ELSE current_setting('synchronous_commit') END, false), "
          "set_config('standard_conforming_strings', 'on', false)"));
}

std::size_t PostgresConnection::send(std::string_view sql, std::initializer_list<PostgresValue> values) {
  const auto place = static_cast<std::size_t>(std::ranges::count(sent_, std::string_view()));
  if (sent_.empty() && library_->enterPipelineMode(handle_.get()) != 1) lost_ = true;
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    known = prepared_.emplace(sql, "s" + std::to_string(++names_given_)).first;
    const std::string text(sql);
    lost_ =
        lost_ || library_->sendPrepare(handle_.get(), known->second.c_str(), text.c_str(), 0, nullptr) != 1;
    sent_.push_back(known->first);
  }
  std::vector<const char*> pointers;
  std::vector<int> lengths, formats;
  for (const PostgresValue& value : values) {
    const bool is_bytes = value.bytes.has_value();
    // An empty view may have no address, which would mean null.
    const char* bytes = is_bytes && value.bytes->data() != nullptr ? value.bytes->data() : "";
    pointers.push_back(is_bytes ? bytes : value.text ? value.text->c_str() : nullptr);
    lengths.push_back(is_bytes ? static_cast<int>(value.bytes->size()) : 0);
    formats.push_back(is_bytes ? pq::kBinary : 0);
  }
  lost_ = lost_ ||
          library_->sendQueryPrepared(handle_.get(), known->second.c_str(), static_cast<int>(values.size()),
                                      pointers.data(), lengths.data(), formats.data(), pq::kBinary) != 1;
  sent_.emplace_back();
  return place;
}

void PostgresConnection::begin() {
  transaction_.clear();
  proof_ = nullptr;
  send("BEGIN");
  names_transaction_ = send("SELECT pg_current_xact_id()::text");
}

void PostgresConnection::roll_back() {
  if (is_lost()) return;
  if (library_->transactionStatus(handle_.get()) == pq::kIdle) return;
  if (!run("ROLLBACK")) lost_ = true;
}

Status PostgresConnection::finish() {
  answers_.clear();
  if (sent_.empty()) return {};
  Status finished;
  if (is_lost() || library_->pipelineSync(handle_.get()) != 1) {
    lost_ = true;
    finished = fail(lost_error());
  } else {
    finished = finish_answers();
  }
  sent_.clear();
  if (finished && names_transaction_) transaction_ = answers_[*names_transaction_].text(0, 0);
  names_transaction_.reset();
  return finished;
}

/// Reads the answers to all that was sent, also after an error.
Status PostgresConnection::finish_answers() {
  Status finished;
  for (const std::string_view prepares : sent_) {
    pq::Answer* answer = next_answer();
    if (answer == nullptr) return fail(lost_error());
    const int status = library_->resultStatus(answer);
    const bool good = status == pq::kCommandOk || status == pq::kTuplesOk;
    if (!good && finished) finished = fail(statement_error(*library_, answer, subject_));
    if (!good && !prepares.empty()) prepared_.erase(prepares);
    PostgresRows rows(library_, answer);
    if (prepares.empty()) answers_.push_back(std::move(rows));
    // Each statement is followed by a null.
    if (pq::Answer* more = next_answer(); more != nullptr) library_->clear(more);
    if (is_lost()) return finished ? fail(lost_error()) : finished;
  }
  const PostgresRows sync(library_, next_answer());
  if (library_->exitPipelineMode(handle_.get()) != 1) lost_ = true;
  if (!finished && ends_connection(json_string(finished.error().detail(), "sqlstate"))) lost_ = true;
  if (finished && lost_) finished = fail(lost_error());
  return finished;
}

/// The next result; null between two statements, and when the connection is lost.
pq::Answer* PostgresConnection::next_answer() {
  const auto end = std::chrono::steady_clock::now() + kAnswerLimit;
  while (!lost_ && library_->isBusy(handle_.get()) != 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd input{library_->socket(handle_.get()), POLLIN, 0};
    const int ready = poll(&input, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || library_->consumeInput(handle_.get()) != 1) lost_ = true;
  }
  return lost_ ? nullptr : library_->getResult(handle_.get());
}

Error PostgresConnection::lost_error() const {
  const std::string why = pq::one_line(library_->errorMessage(handle_.get()));
  return connection_error(subject_, why.empty() ? "the server does not answer" : why);
}

Result<PostgresRows> PostgresConnection::run(std::string_view sql,
                                             std::initializer_list<PostgresValue> values) {
  send(sql, values);
  if (auto finished = finish(); !finished) return fail(std::move(finished.error()));
  return std::move(answers_.back());
}

Result<bool> PostgresConnection::holds(std::string_view sql, std::initializer_list<PostgresValue> values) {
  const auto answer = run(sql, values);
  return answer ? Result<bool>(answer->boolean(0, 0)) : fail(answer.error());
}

Status PostgresConnection::execute(const std::string& script) {
  pq::Answer* answer = library_->exec(handle_.get(), script.c_str());
  if (answer == nullptr) return fail(lost_error());
  const PostgresRows rows(library_, answer);
  const int status = library_->resultStatus(answer);
  if (status == pq::kCommandOk || status == pq::kTuplesOk) return {};
  return fail(statement_error(*library_, answer, subject_));
}

Result<std::vector<std::string>> PostgresConnection::await_notifications(int wake,
                                                                         std::chrono::milliseconds limit) {
  // Some may have come with the answer to a statement.
  if (auto early = take_notifications(); !early.empty()) return early;
  std::array<pollfd, 2> inputs = {{{library_->socket(handle_.get()), POLLIN, 0}, {wake, POLLIN, 0}}};
  std::ignore = poll(inputs.data(), inputs.size(), static_cast<int>(limit.count()));
  if (library_->consumeInput(handle_.get()) != 1) lost_ = true;
  if (is_lost()) return fail(lost_error());
  return take_notifications();
}

std::vector<std::string> PostgresConnection::take_notifications() {
  std::vector<std::string> texts;
  while (pq::Notification* each = library_->notifies(handle_.get())) {
    texts.emplace_back(each->extra);
    library_->freemem(each);
  }
  return texts;
}

bool is_transient(const Error& error) {
  const std::string state = json_string(error.detail(), "sqlstate");
  return ends_connection(state) || begins_with_any(state, {"40001", "40P01", "53300", "55P03"});
}

}  // namespace praxis

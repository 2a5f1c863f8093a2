// One connection to a PostgreSQL server: statements with parameters only, pipelined, and errors in the user's
// words. A connection is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "journal/libpq.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/result.hpp"

namespace praxis {

/// The address of a database without a password, as given: `postgres://USER@HOST/DATABASE`.
/// Errors `kInput` for an address that has a password or is malformed; the message names `what` it is of and
/// does not repeat it.
Status check_postgres_address(const std::string& address, std::string_view what = "journal");

/// A parameter of a statement, valid during the call.
struct PostgresValue {
  std::optional<std::string> text = {};        ///< of a number or an array
  std::optional<std::string_view> bytes = {};  ///< `bytea` or `text`; both empty: null

  PostgresValue() = default;
  PostgresValue(std::int64_t number) : text(std::to_string(number)) {}   // NOLINT: a value as a parameter
  PostgresValue(std::uint64_t number) : text(std::to_string(number)) {}  // NOLINT
  PostgresValue(std::string_view value) : bytes(value) {}                // NOLINT
  PostgresValue(const std::string& value) : bytes(value) {}              // NOLINT
  PostgresValue(const std::optional<std::string>& value) {               // NOLINT
    if (value) bytes = *value;
  }
  PostgresValue(const Digest& digest)  // NOLINT
      : bytes(std::string_view(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size())) {}

  /// An array of texts or numbers.
  static PostgresValue array(const std::vector<std::string>& elements);
};

/// The answer to a statement. All numbers are `bigint`.
class PostgresRows {
 public:
  PostgresRows() = default;
  PostgresRows(const pq::Library* library, pq::Answer* answer) : answer_(answer, Clear{library}) {}

  int size() const { return library().ntuples(answer_.get()); }
  bool is_null(int row, int column) const { return library().getisnull(answer_.get(), row, column) != 0; }
  std::int64_t integer(int row, int column) const;
  std::uint64_t number(int row, int column) const { return static_cast<std::uint64_t>(integer(row, column)); }
  bool boolean(int row, int column) const { return !is_null(row, column) && bytes(row, column) == "\x01"; }
  std::string_view bytes(int row, int column) const;
  std::string text(int row, int column) const { return std::string(bytes(row, column)); }
  Digest digest(int row, int column) const;
  /// How many rows the statement has changed.
  std::uint64_t changed() const;

 private:
  struct Clear {
    const pq::Library* library;
    void operator()(pq::Answer* answer) const { library->clear(answer); }
  };
  const pq::Library& library() const { return *answer_.get_deleter().library; }

  std::unique_ptr<pq::Answer, Clear> answer_{nullptr, Clear{nullptr}};
};

class PostgresConnection {
 public:
  /// Connects; waits at most ten seconds unless the address says otherwise. `reads_only` also accepts a
  /// server that is a replica. Messages begin with `what` and the address. Errors `io` (retriable), `version`
  /// for a server older than 13.
  static Result<PostgresConnection> open(const std::string& address, bool reads_only,
                                         std::string_view what = "journal");

  /// Sends a statement without waiting; returns the place of its answer in `answers()` after the next
  /// `finish`. Statements are prepared once per connection, and cached by the address of their text, which
  /// must be a literal or live as long as the program.
  std::size_t send(std::string_view sql, std::initializer_list<PostgresValue> values = {});
  /// Waits for the answers to all statements sent. After an error the rest of them had no effect, and a
  /// transaction must be rolled back.
  Status finish();
  const std::vector<PostgresRows>& answers() const { return answers_; }
  /// `send` and `finish`.
  Result<PostgresRows> run(std::string_view sql, std::initializer_list<PostgresValue> values = {});
  /// Whether the first value that a statement gives is true.
  Result<bool> holds(std::string_view sql, std::initializer_list<PostgresValue> values);
  /// Runs statements without parameters that the program contains.
  Status execute(const std::string& script);

  /// Begins a transaction with the next `send`, and has the server name it.
  void begin();
  /// The name of the transaction that was begun last; empty until the server has given it.
  const std::string& transaction() const { return transaction_; }
  /// Whether what a transaction wrote is there, asked by another connection.
  using Proof = std::function<Result<bool>(PostgresConnection&)>;
  /// How to prove the transaction that was begun last. Its name alone is no proof: a server that crashes
  /// before the name is on the disk gives it to another transaction.
  void prove_by(Proof proof) { proof_ = std::move(proof); }
  /// Null: the transaction has only its name.
  const Proof& proof() const { return proof_; }
  /// Rolls back if a transaction is open.
  void roll_back();
  /// Whether the connection cannot be used any more.
  bool is_lost() const { return lost_ || library_->status(handle_.get()) != pq::kConnectionOk; }

  /// Waits until a notification arrives or `wake` (a file descriptor) is readable, at most `limit`. Returns
  /// the texts of the notifications that have arrived, in their order. Error `io`: the connection is lost.
  Result<std::vector<std::string>> await_notifications(int wake, std::chrono::milliseconds limit);

 private:
  struct Finish {
    const pq::Library* library;
    void operator()(pq::Connection* handle) const { library->finish(handle); }
  };

  PostgresConnection(const pq::Library* library, pq::Connection* handle, std::string subject)
      : library_(library), handle_(handle, Finish{library}), subject_(std::move(subject)) {}
  Status set_up();
  Status finish_answers();
  pq::Answer* next_answer();
  std::vector<std::string> take_notifications();
  Error lost_error() const;

  const pq::Library* library_;
  std::unique_ptr<pq::Connection, Finish> handle_;
  std::string subject_;  ///< what it is and its address, for messages
  std::unordered_map<std::string_view, std::string> prepared_;
  std::vector<std::string_view> sent_;  // texts of the statements that are prepared; empty: one is run
  std::vector<PostgresRows> answers_;
  std::string transaction_;
  Proof proof_;
  std::optional<std::size_t> names_transaction_;
  std::uint64_t names_given_ = 0;
  bool lost_ = false;
};

/// What `read` makes of the rows, or their error.
template <class Read>
Result<std::invoke_result_t<Read, const PostgresRows&>> value_of(const Result<PostgresRows>& rows,
                                                                 Read read) {
  if (!rows) return fail(rows.error());
  return read(*rows);
}
inline Status status_of(const Result<PostgresRows>& rows) { return rows ? Status{} : fail(rows.error()); }

/// Whether the same work may succeed on a new connection or in a new transaction.
bool is_transient(const Error& error);

}  // namespace praxis

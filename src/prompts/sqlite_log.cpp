// The changes of a prompt store in a SQLite file.
#include <filesystem>
#include <tuple>
#include <utility>

#include "prompts/prompt_log.hpp"
#include "store/sqlite.hpp"
#include "store/sqlite_file.hpp"

namespace praxis {
namespace {

constexpr SqliteFileForm kPromptsForm{
    "prompts", 0x50525850,  // "PRXP"
    1, "CREATE TABLE changes (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);"};

class SqliteLog final : public PromptLog {
 public:
  explicit SqliteLog(Database database) : database_(std::move(database)) {}

  Status refresh(const Take& take) override {
    Query query(database_, "SELECT id, body FROM changes WHERE id > ?1 ORDER BY id", seen_);
    for (;;) {
      auto row = query.next();
      if (!row) return fail(std::move(row.error()));
      if (!*row) return {};
      if (auto taken = take(query.bytes(1)); !taken) return taken;
      seen_ = query.integer(0);
    }
  }

  Status append(const Take& take, const Decide& decide) override {
    const auto turn = database_.begin();
    if (!turn) return fail(turn.error());
    auto done = append_locked(take, decide);
    auto ended = database_.run(done ? "COMMIT" : "ROLLBACK");
    if (done && !ended) std::ignore = database_.run("ROLLBACK");
    // What is committed is taken like a change of another process.
    if (done && ended) return refresh(take);
    return done ? ended : done;
  }

 private:
  Status append_locked(const Take& take, const Decide& decide) {
    if (auto fresh = refresh(take); !fresh) return fresh;
    const auto change = decide();
    if (!change) return fail(change.error());
    return *change ? database_.run("INSERT INTO changes (body) VALUES (?1)", **change) : Status{};
  }

  Database database_;
  std::int64_t seen_ = 0;
};

}  // namespace

Result<std::shared_ptr<PromptStore>> sqlite_prompts(const std::string& path, PromptStoreOptions options) {
  auto database = open_sqlite_file(path, kPromptsForm);
  if (!database) return fail(std::move(database.error()));
  return store_of(std::make_unique<SqliteLog>(*std::move(database)), std::move(options));
}

}  // namespace praxis

// The changes of a prompt store in a SQLite file, sealed if there is a key.
#include <filesystem>
#include <tuple>
#include <utility>

#include "prompts/prompt_log.hpp"
#include "prompts/sqlite_prompts.hpp"
#include "store/sealed_text.hpp"
#include "store/sqlite_seal.hpp"

namespace praxis {
namespace {

SealPlace change_place_of(std::int64_t id) { return SealPlace("changes.body").add(id); }

Status reseal_prompts(Database& database, const Sealer* from, const Sealer& to) {
  std::vector<std::pair<std::int64_t, std::string>> changes;
  {
    Query query(database, "SELECT id, body FROM changes");
    for (auto row = query.next(); !row || *row; row = query.next()) {
      if (!row) return fail(row.error());
      auto body = opened(from, query.bytes(1), change_place_of(query.integer(0)));
      if (!body) return altered_value(database);
      changes.emplace_back(query.integer(0), *std::move(body));
    }
  }
  for (const auto& [id, body] : changes) {
    const SealedText sealed(&to, std::string_view(body), change_place_of(id));
    auto done = database.run("UPDATE changes SET body = ?2 WHERE id = ?1", id, sealed.value());
    if (!done) return done;
  }
  return {};
}

class SqliteLog final : public PromptLog {
 public:
  explicit SqliteLog(Database database) : database_(std::move(database)) {}

  Status refresh(const Take& take) override {
    Query query(database_, "SELECT id, body FROM changes WHERE id > ?1 ORDER BY id", seen_);
    for (;;) {
      auto row = query.next();
      if (!row) return fail(std::move(row.error()));
      if (!*row) return {};
      const auto change = opened(database_.sealer(), query.bytes(1), change_place_of(query.integer(0)));
      if (!change) return altered_value(database_);
      if (auto taken = take(*change); !taken) return taken;
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
    return *change ? add(**change) : Status{};
  }

  Status add(const std::string& change) {
    const std::int64_t id = seen_ + 1;  // no change is ever removed, and no other process adds one now
    const SealedText body(database_.sealer(), std::string_view(change), change_place_of(id));
    SealSum sum(database_);
    sum.change(body.sealed());
    auto added = database_.run("INSERT INTO changes (id, body) VALUES (?1, ?2)", id, body.value());
    return added ? sum.store() : added;
  }

  Database database_;
  std::int64_t seen_ = 0;
};

}  // namespace

const SqliteFileForm& prompts_form() {
  static constexpr SqliteFileForm kForm{
      "prompts",
      0x50525850,  // "PRXP"
      1,
      "CREATE TABLE changes (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL);",
      2,
      "SELECT substr(body, 1, 25) FROM changes",
      reseal_prompts};
  return kForm;
}

Result<std::shared_ptr<PromptStore>> sealed_prompts(const std::string& path, PromptStoreOptions options,
                                                    const AskStoreSecret& secret) {
  auto database = open_sqlite_file(path, prompts_form(), true, secret);
  if (!database) return fail(std::move(database.error()));
  return store_of(std::make_unique<SqliteLog>(*std::move(database)), std::move(options));
}

Result<std::shared_ptr<PromptStore>> sqlite_prompts(const std::string& path, PromptStoreOptions options) {
  return sealed_prompts(path, std::move(options), {});
}

}  // namespace praxis

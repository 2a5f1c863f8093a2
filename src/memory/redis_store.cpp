// A memory in Redis. Names, words and values are arguments of constant scripts.
#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/note_store.hpp"
#include "memory/redis_connection.hpp"
#include "memory/redis_scripts.hpp"
#include "memory/scanned_ranking.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kRedisMemoryVersion = 1;
constexpr std::size_t kPageNotes = 500, kPageBytes = std::size_t{8} << 20;
/// What one search reads at most, the last written first.
constexpr std::size_t kScanNotes = 20'000, kScanBytes = std::size_t{64} << 20;
constexpr const char* kAfterAll = "+inf";

using RedisCommand = std::vector<std::string_view>;

std::string text_of_space(NoteSpace space) { return std::to_string(static_cast<int>(space)); }

Error damaged_note(const std::string& why) {
  return make_error(ErrorCode::kJournal, ErrorKind::kCorrupt, "a note of the memory is damaged: " + why);
}

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc{} && end == text.data() + text.size();
  return good ? std::optional(number) : std::nullopt;
}

/// A note with its place in the order of writing.
struct ReadNote {
  std::int64_t id = 0;
  Note note;
  std::size_t bytes = 0;
};

/// The time and the key of `head`, COLLECTION:WRITTEN:KEY.
Result<std::pair<UnixMillis, std::string>> read_head(std::string_view head) {
  const std::size_t first = head.find(':');
  const std::size_t second = first == std::string_view::npos ? first : head.find(':', first + 1);
  if (second == std::string_view::npos) return fail(damaged_note("its head is cut"));
  const auto written = integer_in(head.substr(first + 1, second - first - 1));
  if (!written) return fail(damaged_note("it has no time"));
  return std::pair(UnixMillis{*written}, std::string(head.substr(second + 1)));
}

/// The note of the four `items` from `at` on.
Result<ReadNote> note_of(const std::vector<RedisReply>& items, std::size_t at) {
  if (items.size() < at + 4) return fail(damaged_note("the answer is cut"));
  const auto id = integer_in(items[at].text);
  auto head = read_head(items[at + 1].text);
  auto value = parse_json(items[at + 2].text);
  if (!id) return fail(damaged_note("it has no id"));
  if (!head) return fail(std::move(head.error()));
  if (!value) return fail(damaged_note(value.error().message));
  return ReadNote{*id,
                  {items[at + 3].text, std::move(head->second), *std::move(value), head->first},
                  items[at + 1].text.size() + items[at + 2].text.size()};
}

class RedisStore final : public NoteStore {
 public:
  RedisStore(RedisAddress address, RedisConnection connection, MemoryLimits limits)
      : address_(std::move(address)), connection_(std::move(connection)), limits_(limits) {}

  /// Creates the memory unless it is there.
  Status prepare(MemoryUse use) {
    const std::string ours = std::to_string(kRedisMemoryVersion);
    const auto version = changed({kRedisPrepare, use == MemoryUse::kCreate ? "1" : "0", ours}, true);
    if (!version) return fail(version.error());
    if (version->number == 0)
      return fail(
          make_error(ErrorCode::kJournal, ErrorKind::kNotFound, "there is no memory in " + address_.shown));
    if (version->number <= kRedisMemoryVersion) return {};
    return fail(make_error(ErrorCode::kJournal, ErrorKind::kVersion,
                           "the memory in " + address_.shown + " has a newer format; use a newer Praxis"));
  }

  Result<bool> put(NoteSpace space, const Note& note, const std::string& once) override {
    const auto outcome = make_change(space, note.collection, {&note, 1}, {}, false, once);
    return outcome ? Result<bool>(!outcome->known) : fail(outcome.error());
  }

  Result<std::optional<Note>> get(NoteSpace space, const std::string& collection,
                                  const std::string& key) override {
    auto notes = page(space, collection, "get", key);
    if (!notes) return fail(std::move(notes.error()));
    return notes->empty() ? std::nullopt : std::optional(std::move(notes->front().note));
  }

  Status visit_keys(NoteSpace space, const std::string& collection, const std::string& after,
                    const Visit& visit) override {
    return visit_pages(space, collection, "keys", after,
                       [&](ReadNote read) { return visit(std::move(read.note)); });
  }

  Status visit_newest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    return visit_pages(space, collection, "newest", kAfterAll,
                       [&](ReadNote read) { return visit(std::move(read.note)); });
  }

  Status visit_oldest(NoteSpace space, const std::string& collection, const Visit& visit) override {
    return visit_pages(space, collection, "oldest", "0",
                       [&](ReadNote read) { return visit(std::move(read.note)); });
  }

  Status visit_written(NoteSpace space, const std::string& collection, const std::string& after,
                       const Visit& visit) override {
    const auto start = page(space, collection, "get", after);
    if (!start) return fail(start.error());
    if (start->empty()) return fail(ErrorCode::kInput, "the stream has no entry \"" + after + '"');
    return visit_pages(space, collection, "oldest", std::to_string(start->front().id),
                       [&](ReadNote read) { return visit(std::move(read.note)); });
  }

  Result<std::vector<FoundNote>> find(NoteSpace space, const std::string& collection,
                                      const std::vector<std::string>& words, const MeaningQuery* /*meaning*/,
                                      const Keep& keep, std::size_t limit) override {
    ScannedRanking ranking(words);
    std::map<std::int64_t, Note> candidates;
    std::size_t notes = 0, bytes = 0;
    auto read = visit_pages(space, collection, "newest", kAfterAll, [&](ReadNote each) {
      ranking.add(each.id, note_text(each.note), [&] {
        if (!keep(each.note.value)) return false;
        candidates.emplace(each.id, std::move(each.note));
        return true;
      });
      bytes += each.bytes;
      return ++notes < kScanNotes && bytes < kScanBytes;
    });
    if (!read) return fail(std::move(read.error()));
    std::vector<FoundNote> result;
    for (const Scored& scored : ranking.best(limit))
      result.push_back({std::move(candidates.at(scored.id)), scored});
    return result;
  }

  Result<bool> remove(NoteSpace space, const std::string& collection, const std::optional<std::string>& key,
                      const std::string& once) override {
    const std::vector<std::string> keys = key ? std::vector{*key} : std::vector<std::string>{};
    const auto outcome = make_change(space, collection, {}, keys, !key, once);
    return outcome ? Result<bool>(outcome->result) : fail(outcome.error());
  }

  Status change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                const std::vector<std::string>& removals, const std::string& once) override {
    const auto outcome = make_change(space, collection, writes, removals, false, once);
    return outcome ? Status{} : fail(outcome.error());
  }

  Result<std::vector<CollectionInfo>> collections(NoteSpace space) override {
    const std::string number = text_of_space(space);
    const auto reply = asked({kRedisCollections, number});
    if (!reply) return fail(reply.error());
    std::vector<CollectionInfo> all;
    for (std::size_t i = 0; i + 3 < reply->items.size(); i += 4) {
      const auto head = read_head(reply->items[i + 3].text);
      if (!head) return fail(head.error());
      all.push_back({reply->items[i].text, static_cast<std::size_t>(reply->items[i + 1].number),
                     static_cast<std::size_t>(reply->items[i + 2].number), head->first});
    }
    std::ranges::sort(all, {}, &CollectionInfo::name);
    return all;
  }

 private:
  struct Outcome {
    bool known = false, result = false;
  };

  /// `script` is a script and its arguments.
  static RedisCommand command_of(const RedisCommand& script) {
    RedisCommand command{"EVAL", script.front(), "1", kRedisPrefix};
    command.insert(command.end(), script.begin() + 1, script.end());
    return command;
  }

  /// Makes sure of a connection. A lost one is replaced at the next call.
  Status connected() {
    if (!connection_.is_lost()) return {};
    auto again = RedisConnection::open(address_);
    if (!again) return fail(std::move(again.error()));
    connection_ = *std::move(again);
    return {};
  }

  /// Runs a script that changes something. If the connection is lost, it is tried once more when the server
  /// cannot have run it, or when `may_repeat` says that running it twice is as good as once.
  Result<RedisReply> changed(const RedisCommand& script, bool may_repeat) {
    const std::lock_guard lock(mutex_);
    const RedisCommand command = command_of(script);
    if (auto ready = connected(); !ready) return fail(std::move(ready.error()));
    auto reply = connection_.run(command);
    if (reply || !connection_.is_lost() || (connection_.has_sent() && !may_repeat)) return reply;
    if (auto ready = connected(); !ready) return fail(std::move(ready.error()));
    return connection_.run(command);
  }

  /// The answer of a script that changes nothing.
  Result<RedisReply> asked(const RedisCommand& script) { return changed(script, true); }

  Result<Outcome> make_change(NoteSpace space, const std::string& collection, std::span<const Note> writes,
                              const std::vector<std::string>& removals, bool removes_all,
                              const std::string& once) {
    const std::string number = text_of_space(space), most_notes = std::to_string(limits_.max_notes),
                      most_bytes = std::to_string(limits_.max_bytes),
                      most_effects = std::to_string(kKnownEffects),
                      removal_count = std::to_string(removals.size());
    RedisCommand script{kRedisChange, number,     collection,   once,
                        most_notes,   most_bytes, most_effects, removes_all ? "1" : "0",
                        removal_count};
    script.insert(script.end(), removals.begin(), removals.end());
    std::vector<std::string> texts;
    texts.reserve(writes.size() * 2);  // `script` refers to them
    for (const Note& note : writes) {
      script.push_back(note.key);
      script.push_back(texts.emplace_back(to_json_text(note.value)));
      script.push_back(texts.emplace_back(std::to_string(note.written.value)));
    }
    const auto reply = changed(script, !once.empty());
    if (!reply) return fail(reply.error());
    if (reply->items.size() != 2) return fail(damaged_note("the answer is cut"));
    if (reply->items[0].text == "full")
      return fail(check_memory_room(limits_, limits_.max_notes + 1, 0).error());
    return Outcome{reply->items[0].text == "known", reply->items[1].number == 1};
  }

  Result<std::vector<ReadNote>> page(NoteSpace space, const std::string& collection, std::string_view how,
                                     const std::string& from) {
    const std::string number = text_of_space(space), notes = std::to_string(kPageNotes),
                      bytes = std::to_string(kPageBytes);
    const auto reply = asked({kRedisRead, number, collection, how, from, notes, bytes});
    if (!reply) return fail(reply.error());
    std::vector<ReadNote> notes_read;
    for (std::size_t i = 0; i < reply->items.size(); i += 4) {
      auto note = note_of(reply->items, i);
      if (!note) return fail(std::move(note.error()));
      notes_read.push_back(*std::move(note));
    }
    return notes_read;
  }

  /// Gives the notes of one page after the other to `visit`, until a page is empty.
  Status visit_pages(NoteSpace space, const std::string& collection, std::string_view how, std::string from,
                     const std::function<bool(ReadNote)>& visit) {
    for (;;) {
      auto notes = page(space, collection, how, from);
      if (!notes) return fail(std::move(notes.error()));
      if (notes->empty()) return {};
      from = how == "keys" ? notes->back().note.key : std::to_string(notes->back().id);
      for (ReadNote& each : *notes) {
        if (!visit(std::move(each))) return {};
      }
    }
  }

  const RedisAddress address_;
  std::mutex mutex_;
  RedisConnection connection_;
  const MemoryLimits limits_;
};

}  // namespace

Result<MemoryClients> redis_memory(const std::string& address, MemoryUse use, MemoryOptions options) {
  auto place = RedisAddress::parse(address);
  if (!place) return fail(std::move(place.error()));
  auto connection = RedisConnection::open(*place);
  if (!connection) return fail(std::move(connection.error()));
  auto store = std::make_shared<RedisStore>(*std::move(place), *std::move(connection), options.limits);
  if (auto ready = store->prepare(use); !ready) return fail(std::move(ready.error()));
  return clients_of(std::move(store), options);
}

}  // namespace praxis

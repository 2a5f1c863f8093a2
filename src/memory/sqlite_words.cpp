#include "memory/sqlite_words.hpp"

#include <utility>

#include "memory/ranking.hpp"

namespace praxis {

std::uint32_t& TextLengths::of(std::int64_t note) {
  constexpr std::size_t kMostPages = 4096;  // 16 MB
  const auto page = pages_.find(note / kPage);
  const auto at = static_cast<std::size_t>(note % kPage);
  if (page != pages_.end()) return page->second[at];
  if (pages_.size() >= kMostPages) pages_.clear();
  return pages_[note / kPage][at];
}

Status SqliteWords::prepare() {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(database_.handle(), "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code == SQLITE_OK) code = sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", nullptr);
  if (code == SQLITE_OK) sqlite3_step(statement);
  sqlite3_finalize(statement);
  if (api != nullptr) code = api->xCreateFunction(api, function_, this, on_match, nullptr);
  if (api == nullptr || code != SQLITE_OK) return fail(database_.error());
  return {};
}

Status SqliteWords::visit_best(const std::string& match,
                               const std::function<bool(std::int64_t id, double score)>& visit) {
  if (match.empty()) return {};
  matches_ = {};
  {
    Query query(database_, search_, match);
    for (auto row = query.next(); !row || *row; row = query.next()) {
      if (!row) return fail(std::move(row.error()));
    }
  }
  const auto is_better = [](const Place& a, const Place& b) {
    return a.score != b.score ? a.score > b.score : a.note > b.note;
  };
  visit_in_order(scored(std::exchange(matches_, {})), is_better,
                 [&](const Place& place) { return visit(place.note, place.score); });
  return {};
}

void SqliteWords::on_match(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result, int,
                           sqlite3_value**) noexcept {
  const int code = static_cast<SqliteWords*>(api->xUserData(context))->count(*api, context);
  if (code != SQLITE_OK) sqlite3_result_error_code(result, code);
}

int SqliteWords::begin(const Fts5ExtensionApi& api, Fts5Context* context) {
  sqlite3_int64 texts = 0, length = 0;
  int code = api.xRowCount(context, &texts);
  if (code == SQLITE_OK) code = api.xColumnTotalSize(context, -1, &length);
  matches_.texts = static_cast<double>(texts);
  matches_.length = static_cast<double>(length);
  matches_.with_term.resize(static_cast<std::size_t>(api.xPhraseCount(context)));
  return code;
}

int SqliteWords::count(const Fts5ExtensionApi& api, Fts5Context* context) {
  int code = matches_.all.empty() ? begin(api, context) : SQLITE_OK;
  for (std::size_t i = 0; i < matches_.with_term.size() && code == SQLITE_OK; ++i) {
    std::uint32_t count = 0;
    Fts5PhraseIter at{};
    int column = 0, place = 0;
    code = api.xPhraseFirst(context, static_cast<int>(i), &at, &column, &place);
    for (; code == SQLITE_OK && column >= 0; api.xPhraseNext(context, &at, &column, &place)) ++count;
    if (count == 0) continue;
    ++matches_.with_term[i];
    matches_.hits.push_back({static_cast<std::uint32_t>(i), count});
  }
  const std::int64_t note = api.xRowid(context);
  std::uint32_t& length = lengths_.of(note);
  if (length == 0 && code == SQLITE_OK) {
    int terms = 0;
    code = api.xColumnSize(context, -1, &terms);
    length = static_cast<std::uint32_t>(terms);
  }
  matches_.all.push_back({note, length, matches_.hits.size()});
  return code;
}

std::vector<SqliteWords::Place> SqliteWords::scored(const Matches& matches) {
  std::vector<double> rarities;
  for (const double texts : matches.with_term) rarities.push_back(rarity(matches.texts, texts));
  std::vector<Place> places;
  std::vector<TermCount> terms;
  std::size_t hit = 0;
  for (const Match& match : matches.all) {
    terms.clear();
    for (; hit < match.hits_end; ++hit) {
      const auto& [term, count] = matches.hits[hit];
      terms.push_back({static_cast<double>(count), rarities[term]});
    }
    places.push_back({match.note, bm25(terms, match.length, matches.length / matches.texts)});
  }
  return places;
}

}  // namespace praxis

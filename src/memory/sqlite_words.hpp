// The ranking of notes by an index of words in a memory file. Used under the lock of the store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/sqlite.hpp"

namespace praxis {

/// The lengths of texts, by the ids of their notes, whose texts never change.
class TextLengths {
 public:
  /// 0: not known yet. Valid until the next call.
  std::uint32_t& of(std::int64_t note);

 private:
  static constexpr std::int64_t kPage = 1024;
  std::unordered_map<std::int64_t, std::array<std::uint32_t, kPage>> pages_;
};

/// One index of FTS5. Its scores are those of FTS5's `bm25`, which costs most of a search: that function asks
/// the index again for each word, to know how rare it is, and seeks the length of each text. Here one pass
/// over what matches counts both, and lengths stay in memory.
class SqliteWords {
 public:
  /// `search` selects `function(index)` from the index for the match ?1. Both are literals; no other index of
  /// the connection has the same `function`. `database` must outlive this.
  SqliteWords(Database& database, const char* function, std::string_view search)
      : database_(database), function_(function), search_(search) {}
  SqliteWords(const SqliteWords&) = delete;
  SqliteWords& operator=(const SqliteWords&) = delete;

  /// Adds the function to the connection. Before any other call.
  Status prepare();
  /// Gives the notes that `match`, a query of FTS5, finds to `visit`, the best first, until it returns false.
  /// An empty query finds nothing.
  Status visit_best(const std::string& match,
                    const std::function<bool(std::int64_t id, double score)>& visit);

 private:
  struct Place {
    std::int64_t note = 0;
    double score = 0;
  };
  struct Hit {
    std::uint32_t term = 0, count = 0;
  };
  struct Match {
    std::int64_t note = 0;
    std::uint32_t length = 0;
    std::size_t hits_end = 0;  ///< of this text, which begin where those of the match before end
  };
  /// What one pass over the index counts.
  struct Matches {
    double texts = 0, length = 0;   ///< of the whole index
    std::vector<double> with_term;  ///< how many texts have each term of the query
    std::vector<Match> all;
    std::vector<Hit> hits;
  };

  static void on_match(const Fts5ExtensionApi* api, Fts5Context* context, sqlite3_context* result,
                       int /*values*/, sqlite3_value** /*value*/) noexcept;
  /// Counts one text that matches. Returns a code of SQLite.
  int count(const Fts5ExtensionApi& api, Fts5Context* context);
  int begin(const Fts5ExtensionApi& api, Fts5Context* context);
  static std::vector<Place> scored(const Matches& matches);

  Database& database_;
  const char* const function_;
  const std::string_view search_;
  TextLengths lengths_;
  Matches matches_;  // of the search that runs
};

}  // namespace praxis

// What a memory in a file costs: storing documents, a write next to SQLite's own commit of the same row, and
// searches over many notes by words and with vectors. CPU time of this process; the write also by the clock.
//   praxis_memory_bench FOLDER [notes]   documents: the Markdown and C++ files below the folder, as text
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "memory/ingest_batch.hpp"
#include "must.hpp"
#include "praxis/memory/documents.hpp"
#include "praxis/memory/embedder.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis::bench {
namespace {

namespace fs = std::filesystem;

double cpu_ms() { return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC; }
double wall_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// A vector without meaning for each text: the search costs the same, and making it costs little.
class RandomEmbedder final : public Embedder {
 public:
  const std::string& name() const override { return name_; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                std::stop_token) override {
    constexpr std::size_t kDimensions = 384;
    std::vector<std::vector<float>> vectors(texts.size(), std::vector<float>(kDimensions));
    for (auto& vector : vectors) {
      for (float& number : vector) number = static_cast<float>(random_() % 2001) / 1000.0F - 1.0F;
    }
    return vectors;
  }

 private:
  const std::string name_ = "random-384";
  std::minstd_rand random_{7};
};

std::vector<Document> documents_below(const fs::path& folder) {
  std::vector<Document> documents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const bool is_text =
        path.extension() == ".md" || path.extension() == ".cpp" || path.extension() == ".hpp";
    if (!is_text || !entry.is_regular_file() || path.native().find("/build/") != std::string::npos) continue;
    std::ifstream in(path, std::ios::binary);
    documents.push_back({path.native(), std::string(std::istreambuf_iterator<char>(in), {}), {}});
  }
  std::ranges::sort(documents, {}, &Document::name);
  return documents;
}

void bench_ingestion(const fs::path& folder, const std::vector<Document>& documents) {
  const auto clients = must(sqlite_memory((folder / "documents.db").string()));
  std::size_t bytes = 0, pieces = 0;
  const double begin = cpu_ms();
  IngestBatch batch(*clients.database, {},
                    [&](const std::string&, const IngestReport& report) { pieces += report.pieces; });
  for (const Document& document : documents) {
    must(batch.add(document));
    bytes += document.content.size();
  }
  must(batch.finish());
  must(clients.database->purge());
  const double ms = cpu_ms() - begin;
  std::printf("| storing documents: %zu files, %zu pieces, %.1f MB | %.2f MB/s of a core |\n",
              documents.size(), pieces, static_cast<double>(bytes) / 1e6,
              static_cast<double>(bytes) / 1e3 / ms);
}

/// Notes of a few lines of the documents each, some 170 bytes.
std::vector<std::string> texts_of(const std::vector<Document>& documents, std::size_t count) {
  constexpr std::size_t kBytes = 170;
  std::vector<std::string> texts;
  for (std::size_t round = 0; texts.size() < count; ++round) {
    for (const Document& document : documents) {
      for (std::size_t at = round * kBytes / 3;
           at + kBytes <= document.content.size() && texts.size() < count; at += kBytes)
        texts.push_back(document.content.substr(at, kBytes));
    }
  }
  return texts;
}

void bench_recall(const fs::path& folder, const std::vector<Document>& documents, std::size_t count) {
  const auto embedder = std::make_shared<RandomEmbedder>();
  const std::string file = (folder / "notes.db").string();
  const auto fused = must(sqlite_memory(file, MemoryUse::kCreate, {.embedder = embedder}));
  const auto words = must(sqlite_memory(file));
  const auto texts = texts_of(documents, count);
  constexpr std::size_t kBatch = 1000;
  NoteChanges changes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    changes.writes.emplace_back(std::to_string(i), Json({{"text", texts[i]}}));
    if (changes.writes.size() == kBatch || i + 1 == texts.size())
      must(fused.database->change("facts", std::exchange(changes, {})));
  }
  const char* const queries[] = {"sqlite journal",   "approval",         "the model answers with a citation",
                                 "websocket",        "secret of a tool", "vector",
                                 "redis connection", "replay of a run",  "which files may an agent write"};
  for (std::size_t i = 0; i < texts.size() / 4096 + 2; ++i)
    must(fused.database->search("websocket"));  // embeds
  std::vector<double> by_words, by_both;
  for (int round = 0; round < 3; ++round) {
    for (const char* query : queries) {
      double begin = cpu_ms();
      must(words.database->search(query));
      by_words.push_back(cpu_ms() - begin);
      begin = cpu_ms();
      must(fused.database->search(query));
      by_both.push_back(cpu_ms() - begin);
    }
  }
  std::printf("| search over %zu notes, by words | %.1f ms (median), %.1f ms (most) |\n", count,
              median(by_words), *std::ranges::max_element(by_words));
  std::printf("| the same, fused with vectors of 384 numbers | %.1f ms (median), %.1f ms (most) |\n",
              median(by_both), *std::ranges::max_element(by_both));
}

/// A table with the same row, indexes and settings, without anything of ours.
sqlite3* plain_database(const std::string& path) {
  sqlite3* database = nullptr;
  const char* const tables =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
      "CREATE TABLE notes (id INTEGER PRIMARY KEY, collection TEXT, key TEXT, written INTEGER, value TEXT, "
      "text TEXT);"
      "CREATE INDEX by_key ON notes (collection, key);"
      "CREATE VIRTUAL TABLE words USING fts5(text, content = 'notes', content_rowid = 'id', tokenize = "
      "'porter');"
      "CREATE VIRTUAL TABLE pieces USING fts5(text, content = 'notes', content_rowid = 'id', tokenize = "
      "'trigram');";
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, tables, nullptr, nullptr, nullptr) != SQLITE_OK)
    std::exit(1);
  return database;
}

class PlainInsert {
 public:
  PlainInsert(sqlite3* database, const char* sql) {
    sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr);
  }
  ~PlainInsert() { sqlite3_finalize(statement_); }
  PlainInsert(const PlainInsert&) = delete;
  PlainInsert& operator=(const PlainInsert&) = delete;
  void run(std::int64_t id, const std::string& text) {
    sqlite3_bind_int64(statement_, 1, id);
    sqlite3_bind_text(statement_, 2, text.c_str(), -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement_) != SQLITE_DONE) std::exit(1);
    sqlite3_reset(statement_);
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

void bench_write(const fs::path& folder, const std::vector<std::string>& texts) {
  const auto clients = must(sqlite_memory((folder / "written.db").string()));
  sqlite3* plain = plain_database((folder / "plain.db").string());
  std::vector<double> our_cpu, our_wall, their_cpu, their_wall;
  {
    PlainInsert note(plain, "INSERT INTO notes VALUES (?1, 'facts', ?1, ?1, ?2, ?2)"),
        words(plain, "INSERT INTO words (rowid, text) VALUES (?1, ?2)"),
        pieces(plain, "INSERT INTO pieces (rowid, text) VALUES (?1, ?2)");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      double cpu = cpu_ms(), wall = wall_ms();
      must(clients.database->write("facts", std::to_string(i), Json({{"text", texts[i]}})));
      our_cpu.push_back(cpu_ms() - cpu);
      our_wall.push_back(wall_ms() - wall);
      cpu = cpu_ms(), wall = wall_ms();
      sqlite3_exec(plain, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
      const auto id = static_cast<std::int64_t>(i) + 1;
      note.run(id, texts[i]);
      words.run(id, texts[i]);
      pieces.run(id, texts[i]);
      sqlite3_exec(plain, "COMMIT", nullptr, nullptr, nullptr);
      their_cpu.push_back(cpu_ms() - cpu);
      their_wall.push_back(wall_ms() - wall);
    }
  }
  sqlite3_close(plain);
  std::printf(
      "| a write, to SQLite's own commit of the same row and indexes | %.2f × by the clock, %.2f × CPU (%.2f "
      "ms) |\n",
      median(our_wall) / median(their_wall), median(our_cpu) / median(their_cpu), median(our_cpu));
}

}  // namespace
}  // namespace praxis::bench

int main(int argc, char** argv) {
  namespace bench = praxis::bench;
  if (argc < 2) {
    std::fprintf(stderr, "usage: praxis_memory_bench FOLDER [notes]\n");
    return 2;
  }
  const auto count = static_cast<std::size_t>(argc > 2 ? std::max(std::atoi(argv[2]), 1) : 100'000);
  const auto documents = bench::documents_below(argv[1]);
  if (documents.empty()) {
    std::fprintf(stderr, "praxis_memory_bench: there is no .md, .cpp or .hpp file below %s\n", argv[1]);
    return 2;
  }
  std::string name = (bench::fs::temp_directory_path() / "praxis-memory-bench-XXXXXX").string();
  const bench::fs::path folder = ::mkdtemp(name.data());
  std::printf("| memory in a file | cost |\n| --- | --- |\n");
  bench::bench_ingestion(folder, documents);
  bench::bench_write(folder, bench::texts_of(documents, 500));
  bench::bench_recall(folder, documents, count);
  bench::fs::remove_all(folder);
  return 0;
}

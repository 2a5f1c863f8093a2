#include "memory/note_meaning.hpp"

#include <algorithm>
#include <map>

#include "memory/vector_index.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/base/utf8.hpp"

namespace praxis {
namespace {

constexpr std::size_t kBatch = 256;       // notes that are read, embedded and stored at a time
constexpr std::size_t kMostBatches = 16;  // before one search
constexpr std::size_t kMaxEmbedded = std::size_t{8} * 1024;  // bytes of a text; models read little more
constexpr std::size_t kKnownQueries = 256;

}  // namespace

Result<std::optional<MeaningQuery>> NoteMeaning::query_for(const std::string& text) {
  for (std::size_t i = 0; i < kMostBatches; ++i) {
    const auto complete = embed_some();
    if (!complete) return fail(complete.error());
    if (*complete) break;
  }
  auto vector = vector_of_query(text);
  if (!vector) return std::nullopt;
  return MeaningQuery{embedder_->name(), *std::move(vector)};
}

Result<bool> NoteMeaning::embed_some() {
  const std::string& model = embedder_->name();
  const auto notes = store_->without_vector(model, kBatch);
  if (!notes) return fail(notes.error());
  std::vector<NoteVector> vectors;
  std::map<std::string, std::string> unknown;  // texts by their digests: each is embedded once
  for (const PlainNote& note : *notes) {
    const std::string text(utf8_head(note.text, kMaxEmbedded));
    vectors.push_back({note.id, digest_of(text).hex(), {}});
    auto known = store_->known_vector(model, vectors.back().hash);
    if (!known) return fail(std::move(known.error()));
    if (*known) {
      vectors.back().vector = **std::move(known);
    } else {
      unknown.emplace(vectors.back().hash, text);
    }
  }
  if (!unknown.empty()) {
    std::vector<std::string> texts;
    for (const auto& [hash, text] : unknown) texts.push_back(text);
    auto made = embedder_->embed(texts);
    if (!made || made->size() != texts.size()) return true;  // the words must do
    std::map<std::string, std::vector<float>> by_hash;
    std::size_t next = 0;
    for (const auto& [hash, text] : unknown) {
      auto& vector = (*made)[next++];
      // A text without a direction, such as an empty one, is stored as such, so that it is not tried again.
      if (!make_unit(vector)) std::ranges::fill(vector, 0.0F);
      by_hash[hash] = std::move(vector);
    }
    for (NoteVector& each : vectors) {
      if (each.vector.empty()) each.vector = by_hash.at(each.hash);
    }
  }
  if (auto added = store_->add_vectors(model, vectors); !added) return fail(std::move(added.error()));
  return notes->size() < kBatch;
}

std::optional<std::vector<float>> NoteMeaning::vector_of_query(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::ranges::find(queries_, text, [](const auto& each) { return each.first; });
    if (known != queries_.end()) return known->second;
  }
  const std::string shown(utf8_head(text, kMaxEmbedded));
  auto made = embedder_->embed(std::span(&shown, 1));
  if (!made || made->size() != 1 || !make_unit(made->front())) return std::nullopt;
  const std::lock_guard lock(mutex_);
  queries_.emplace_back(text, made->front());
  if (queries_.size() > kKnownQueries) queries_.pop_front();
  return std::move(made->front());
}

}  // namespace praxis

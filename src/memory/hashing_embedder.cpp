#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "memory/words.hpp"
#include "praxis/base/digest.hpp"
#include "praxis/memory/embedder.hpp"

namespace praxis {
namespace {

class HashingEmbedder final : public Embedder {
 public:
  explicit HashingEmbedder(std::size_t dimensions)
      : dimensions_(std::max<std::size_t>(dimensions, 1)), name_("hashing-" + std::to_string(dimensions_)) {}

  const std::string& name() const override { return name_; }

  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                std::stop_token) override {
    std::vector<std::vector<float>> vectors;
    for (const std::string& text : texts) vectors.push_back(vector_of(text));
    return vectors;
  }

 private:
  std::vector<float> vector_of(const std::string& text) const {
    constexpr std::size_t kPiece = 4;
    constexpr float kPieceWeight = 0.3F;
    std::vector<float> vector(dimensions_, 0);
    for (const std::string& word : words_of(folded(text))) {
      add(vector, stem_of(word), 1);
      for (std::size_t at = 0; at + kPiece <= word.size(); ++at)
        add(vector, std::string_view(word).substr(at, kPiece), kPieceWeight);
    }
    return vector;
  }

  /// Adds a term at the place that its digest names, with the sign that its digest names.
  void add(std::vector<float>& vector, std::string_view term, float weight) const {
    const Digest digest = digest_of(term);
    std::uint64_t place = 0;
    std::memcpy(&place, digest.bytes.data(), sizeof(place));
    const bool is_negative = (static_cast<unsigned char>(digest.bytes.back()) & 1U) != 0;
    vector[place % dimensions_] += is_negative ? -weight : weight;
  }

  const std::size_t dimensions_;
  const std::string name_;
};

}  // namespace

std::shared_ptr<Embedder> hashing_embedder(std::size_t dimensions) {
  return std::make_shared<HashingEmbedder>(dimensions);
}

}  // namespace praxis

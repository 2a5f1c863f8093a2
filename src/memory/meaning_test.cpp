// A memory with an embedder: what it finds, embeds, keeps and forgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "memory/testing/store_folder.hpp"
#include "memory/vector_index.hpp"
#include "praxis/memory/embedder.hpp"
#include "praxis/memory/stores.hpp"

namespace praxis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::StoreFolder;

/// Knows that a car is a vehicle and tea a drink; counts what it is asked.
class SmallEmbedder final : public Embedder {
 public:
  const std::string& name() const override { return name_; }
  Result<std::vector<std::vector<float>>> embed(std::span<const std::string> texts,
                                                std::stop_token) override {
    if (fails) return fail(ErrorCode::kModel, "the server is away", true);
    std::vector<std::vector<float>> vectors;
    for (const std::string& text : texts) {
      asked.push_back(text);
      const auto has = [&](const char* word) { return text.find(word) != std::string::npos ? 1.0F : 0.0F; };
      vectors.push_back({has("car") + has("vehicle"), has("tea") + has("drink"), 0.01F});
    }
    return vectors;
  }

  bool fails = false;
  std::vector<std::string> asked;

 private:
  const std::string name_ = "small";
};

class MemoryWithMeaning : public ::testing::Test {
 protected:
  MemoryWithMeaning() : clients_(opened()) {}

  MemoryClients opened() {
    return sqlite_memory(folder_.file("memory.db"), MemoryUse::kCreate, {.embedder = embedder_}).value();
  }
  void write(const std::string& key, const std::string& text, const std::string& collection = "facts") {
    ASSERT_TRUE(clients_.database->write(collection, key, {{"text", text}}));
  }
  std::vector<std::string> found(const std::string& text, const SearchOptions& options = {}) {
    std::vector<std::string> keys;
    for (const Hit& hit : clients_.database->search(text, options).value()) keys.push_back(hit.note.key);
    return keys;
  }
  bool in_a_file(std::string_view bytes) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(""))) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(in), {}};
      if (all.find(bytes) != std::string::npos) return true;
    }
    return false;
  }

  StoreFolder folder_;
  std::shared_ptr<SmallEmbedder> embedder_ = std::make_shared<SmallEmbedder>();
  MemoryClients clients_;
};

TEST_F(MemoryWithMeaning, Search_FindsWhatSharesNoWord) {
  write("a", "Anna has a car.");
  write("b", "Bob grows tomatoes.");
  const auto hits = clients_.database->search("which vehicle").value();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].note.key, "a");
  EXPECT_EQ(hits[0].meaning_rank, 1U);
  EXPECT_FALSE(hits[0].words_rank) << "found by its meaning alone";
  EXPECT_EQ(to_json(hits[0]).at("ranks").at("meaning"), Json(1));
}

TEST_F(MemoryWithMeaning, Texts_AreEmbeddedOnce) {
  write("a", "a car");
  write("b", "some tea");
  EXPECT_THAT(embedder_->asked, IsEmpty()) << "a write waits for no server";
  found("drink");
  EXPECT_EQ(embedder_->asked.size(), 3U);
  found("drink");
  EXPECT_EQ(embedder_->asked.size(), 3U);
  ASSERT_TRUE(clients_.database->write("other", "a", {{"text", "a car"}}));
  clients_ = opened();
  found("car");
  EXPECT_THAT(embedder_->asked.back(), "car") << "the same text has its vector already";
  EXPECT_EQ(embedder_->asked.size(), 4U);
}

TEST_F(MemoryWithMeaning, EmbedderThatFails_LeavesTheWords) {
  write("a", "a car");
  embedder_->fails = true;
  EXPECT_THAT(found("car"), ElementsAre("a"));
  EXPECT_THAT(found("vehicle"), IsEmpty());
  embedder_->fails = false;
  EXPECT_THAT(found("vehicle"), ElementsAre("a")) << "made up for";
}

TEST_F(MemoryWithMeaning, ChangesByOthers_AreSeen) {
  write("a", "a car");
  write("b", "tea");
  found("vehicle");
  const auto other = opened();
  ASSERT_TRUE(other.database->write("facts", "c", {{"text", "a red car"}}));
  ASSERT_TRUE(other.database->remove("facts", "a"));
  ASSERT_TRUE(other.database->write("facts", "b", {{"text", "another car"}}));
  const auto keys = found("vehicle");
  EXPECT_THAT(keys, ElementsAre("b", "c"));
}

TEST_F(MemoryWithMeaning, CollectionAndFilter_HoldForMeaningToo) {
  write("a", "a car");
  write("b", "a car", "other");
  EXPECT_THAT(found("vehicle", {.collection = "other"}), ElementsAre("b"));
  EXPECT_THAT(found("vehicle", {.filter = Filter::parse({{"eq", {"text", "none"}}}).value()}), IsEmpty());
}

TEST_F(MemoryWithMeaning, Forgetting_RemovesTheVectorFromAllFiles) {
  embedder_ = nullptr;
  const auto hashing = hashing_embedder(16);
  clients_ = sqlite_memory(folder_.file("memory.db"), MemoryUse::kCreate, {.embedder = hashing}).value();
  write("a", "canary in a mine");
  ASSERT_FALSE(found("canary").empty());
  const std::string text = "a\ncanary in a mine";
  auto vector = hashing->embed(std::span(&text, 1)).value()[0];
  make_unit(vector);
  const std::string_view bytes(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  ASSERT_TRUE(in_a_file(bytes)) << "the test looks for the right bytes";
  const auto without = sqlite_memory(folder_.file("memory.db")).value();
  ASSERT_TRUE(without.database->remove("facts", "a").value());
  EXPECT_FALSE(in_a_file(bytes));
}

TEST(VectorIndex, GivesTheExactOrder) {
  constexpr std::size_t kDimensions = 37;  // no multiple of what the processor does at a time
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto vector = [&] {
    std::vector<float> made(kDimensions);
    for (float& number : made) number = normal(random);
    make_unit(made);
    return made;
  };
  VectorIndex index;
  std::vector<std::vector<float>> all;
  for (std::int64_t id = 0; id < 2000; ++id) {
    all.push_back(vector());
    ASSERT_TRUE(index.add(id, all.back()));
  }
  index.keep_only([](std::int64_t id) { return id % 3 != 0; });
  const auto query = vector();
  std::vector<std::pair<double, std::int64_t>> expected, got;
  for (std::size_t id = 0; id < all.size(); ++id) {
    double score = 0;
    for (std::size_t i = 0; i < kDimensions; ++i)
      score += static_cast<double>(query[i]) * static_cast<double>(all[id][i]);
    if (id % 3 != 0 && score > 1e-6) expected.emplace_back(score, static_cast<std::int64_t>(id));
  }
  std::ranges::sort(expected, std::greater<>());
  index.visit_best(query, [&](const VectorIndex::Match& match) {
    got.emplace_back(static_cast<double>(match.score), match.id);
    return got.size() < expected.size();
  });
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i].first, expected[i].first, 1e-5) << i;
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(got[i].second, expected[i].second);
}

TEST(VectorIndex, OtherLengths_AreRefused) {
  VectorIndex index;
  EXPECT_TRUE(index.add(1, std::vector<float>{1, 0}));
  EXPECT_FALSE(index.add(2, std::vector<float>{1, 0, 0}));
  bool was_called = false;
  index.visit_best(std::vector<float>{1, 0, 0}, [&](const auto&) { return was_called = true; });
  EXPECT_FALSE(was_called);
  std::vector<float> zero{0, 0}, wrong{NAN, 1};
  EXPECT_FALSE(make_unit(zero) || make_unit(wrong));
}

}  // namespace
}  // namespace praxis

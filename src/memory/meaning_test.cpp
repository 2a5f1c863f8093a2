// A memory with an embedder: what it finds, embeds, keeps and forgets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "journal/testing/postgres_server.hpp"
#include "memory/testing/store_folder.hpp"
#include "memory/testing/vector_type.hpp"
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
      vectors.back().resize(length);
    }
    return vectors;
  }

  bool fails = false;
  std::size_t length = 3;
  std::vector<std::string> asked;

 private:
  const std::string name_ = "small";
};

/// Where the vectors are, and who compares them: this process, or in the second of the databases the server.
enum class MeaningPlace : std::uint8_t { kFile, kPostgres, kPostgresVector };

class MemoryWithMeaning : public ::testing::TestWithParam<MeaningPlace> {
 protected:
  void SetUp() override {
    if (GetParam() != MeaningPlace::kFile) {
      PRAXIS_NEED_POSTGRES();
      schema_ = testing::PostgresServer::shared()->new_schema();
      if (GetParam() == MeaningPlace::kPostgresVector) schema_ = testing::with_vector_type(schema_);
      ASSERT_NE(schema_, "");
    }
    clients_ = opened();
  }

  MemoryClients opened() { return opened(embedder_); }
  MemoryClients opened(std::shared_ptr<Embedder> embedder) {
    const MemoryOptions options{.embedder = std::move(embedder)};
    if (GetParam() != MeaningPlace::kFile)
      return postgres_memory(schema_, MemoryUse::kCreate, options).value();
    return sqlite_memory(folder_.file("memory.db"), MemoryUse::kCreate, options).value();
  }
  void write(const std::string& key, const std::string& text, const std::string& collection = "facts") {
    ASSERT_TRUE(clients_.database->write(collection, key, {{"text", text}}));
  }
  std::vector<std::string> found(const std::string& text, const SearchOptions& options = {}) {
    std::vector<std::string> keys;
    for (const Hit& hit : clients_.database->search(text, options).value()) keys.push_back(hit.note.key);
    return keys;
  }

  StoreFolder folder_;
  std::string schema_;  // the address of one in the database
  std::shared_ptr<SmallEmbedder> embedder_ = std::make_shared<SmallEmbedder>();
  MemoryClients clients_;
};

std::string name_of_place(const ::testing::TestParamInfo<MeaningPlace>& place) {
  if (place.param == MeaningPlace::kFile) return "File";
  return place.param == MeaningPlace::kPostgres ? "Postgres" : "PostgresVector";
}
INSTANTIATE_TEST_SUITE_P(Places, MemoryWithMeaning,
                         ::testing::Values(MeaningPlace::kFile, MeaningPlace::kPostgres,
                                           MeaningPlace::kPostgresVector),
                         name_of_place);

TEST_P(MemoryWithMeaning, Search_FindsWhatSharesNoWord) {
  write("a", "Anna has a car.");
  write("b", "Bob grows tomatoes.");
  const auto hits = clients_.database->search("which vehicle").value();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].note.key, "a");
  EXPECT_EQ(hits[0].meaning_rank, 1U);
  EXPECT_FALSE(hits[0].words_rank) << "found by its meaning alone";
  EXPECT_EQ(to_json(hits[0]).at("ranks").at("meaning"), Json(1));
}

TEST_P(MemoryWithMeaning, Texts_AreEmbeddedOnce) {
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

TEST_P(MemoryWithMeaning, EmbedderThatFails_LeavesTheWords) {
  write("a", "a car");
  embedder_->fails = true;
  EXPECT_THAT(found("car"), ElementsAre("a"));
  EXPECT_THAT(found("vehicle"), IsEmpty());
  embedder_->fails = false;
  EXPECT_THAT(found("vehicle"), ElementsAre("a")) << "made up for";
}

TEST_P(MemoryWithMeaning, ChangesByOthers_AreSeen) {
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

TEST_P(MemoryWithMeaning, CollectionAndFilter_HoldForMeaningToo) {
  write("a", "a car");
  write("b", "a car", "other");
  EXPECT_THAT(found("vehicle", {.collection = "other"}), ElementsAre("b"));
  EXPECT_THAT(found("vehicle", {.filter = Filter::parse({{"eq", {"text", "none"}}}).value()}), IsEmpty());
}

TEST_P(MemoryWithMeaning, Fusion_IsThatOfAFile) {
  const auto hashing = hashing_embedder(64);
  clients_ = opened(hashing);
  const auto reference =
      sqlite_memory(folder_.file("reference.db"), MemoryUse::kCreate, {.embedder = hashing}).value();
  const char* const texts[] = {"Anna drinks green tea in the morning",   "The kettle is green",
                               "Tea is steeped for three minutes",       "Bob rides a bicycle to the harbour",
                               "Teapots and kettles are in the kitchen", "The ferry leaves in the morning"};
  int count = 0;
  for (const char* text : texts) {
    write("n" + std::to_string(++count), text);
    ASSERT_TRUE(reference.database->write("facts", "n" + std::to_string(count), {{"text", text}}));
  }
  for (const char* query : {"green tea", "kettles", "morning ferry", "kitchenware"}) {
    const auto hits = clients_.database->search(query).value(),
               wanted = reference.database->search(query).value();
    ASSERT_EQ(hits.size(), wanted.size()) << query;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      EXPECT_EQ(hits[i].note.key, wanted[i].note.key) << query << ' ' << i;
      EXPECT_EQ(hits[i].meaning_rank, wanted[i].meaning_rank) << query << ' ' << i;
    }
  }
}

TEST_P(MemoryWithMeaning, FilterThatRejectsTheNearest_FindsTheRest) {
  for (int i = 0; i < 300; ++i)
    write("near" + std::to_string(i), i % 2 == 0 ? "a car and a vehicle" : "vehicle, car", "many");
  write("far", "a car with tea", "many");
  EXPECT_THAT(found("vehicles", {.filter = Filter::parse({{"eq", {"text", "a car with tea"}}}).value()}),
              ElementsAre("far"));
}

TEST_P(MemoryWithMeaning, VectorsOfAnotherLength_FailNoSearch) {
  write("a", "a car");
  ASSERT_THAT(found("vehicle"), ElementsAre("a"));
  embedder_->length = 5;
  write("b", "a red car");
  clients_ = opened();
  EXPECT_TRUE(clients_.database->search("vehicles"));
  EXPECT_THAT(found("red"), ElementsAre("b"));
}

TEST_P(MemoryWithMeaning, Vector_GoesWithItsNote) {
  write("a", "a car");
  found("vehicle");
  ASSERT_TRUE(opened(nullptr).database->remove("facts", "a").value()) << "without an embedder";
  write("b", "a car");
  EXPECT_THAT(found("vehicle"), ElementsAre("b"));
  EXPECT_EQ(std::ranges::count(embedder_->asked, "b\na car"), 1);
}

class MemoryFileWithMeaning : public ::testing::Test {
 protected:
  bool in_a_file(std::string_view bytes) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(""))) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(in), {}};
      if (all.find(bytes) != std::string::npos) return true;
    }
    return false;
  }
  StoreFolder folder_;
};

TEST_F(MemoryFileWithMeaning, Forgetting_RemovesTheVectorFromAllFiles) {
  const auto hashing = hashing_embedder(16);
  const auto clients =
      sqlite_memory(folder_.file("memory.db"), MemoryUse::kCreate, {.embedder = hashing}).value();
  ASSERT_TRUE(clients.database->write("facts", "a", {{"text", "canary in a mine"}}));
  ASSERT_FALSE(clients.database->search("canary").value().empty());
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

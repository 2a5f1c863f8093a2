// The exact search over vectors: CPU time of one query, with the instructions of this processor and, if the
// second argument is `check`, an error unless it stays within 60 ms for 50,000 vectors of 384 numbers.
//   praxis_vectors_bench [vectors] [check]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string_view>
#include <vector>

#include "memory/vector_index.hpp"

namespace praxis {
namespace {

constexpr std::size_t kDimensions = 384;
constexpr double kMostMs = 60;

std::vector<float> random_vector(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(kDimensions);
  for (float& number : vector) number = normal(random);
  make_unit(vector);
  return vector;
}

/// The best round counts: the others were disturbed.
double best_ms(const VectorIndex& index, std::mt19937& random) {
  constexpr int kRounds = 20, kTaken = 200;
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto query = random_vector(random);
    int taken = 0;
    const std::clock_t begin = std::clock();
    index.visit_best(query, [&](const VectorIndex::Match&) { return ++taken < kTaken; });
    best = std::min(best, static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace
}  // namespace praxis

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 50'000;
  std::mt19937 random(1);
  praxis::VectorIndex index;
  for (int id = 1; id <= count; ++id) index.add(id, praxis::random_vector(random));
  const double ms = praxis::best_ms(index, random);
  std::printf("| vectors of %zu numbers | ms/query |\n| --- | --- |\n| %d | %.1f |\n", praxis::kDimensions,
              count, ms);
  const bool is_checked = argc > 2 && std::string_view(argv[2]) == "check";
  if (!is_checked || ms <= praxis::kMostMs) return 0;
  std::fprintf(stderr, "praxis_vectors_bench: %.1f ms, at most %.0f are allowed\n", ms, praxis::kMostMs);
  return 1;
}

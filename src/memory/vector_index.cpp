#include "memory/vector_index.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "memory/ranking.hpp"

namespace praxis {
namespace {

/// Eight numbers at a time: one register of AVX2, two of SSE2 or NEON.
using Lanes = float __attribute__((vector_size(32)));
constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(float);

[[gnu::always_inline]] inline float dot_of(const float* a, const float* b, std::size_t size) {
  constexpr std::size_t kSums = 4;  // independent, so that additions overlap
  Lanes sums[kSums] = {};
  std::size_t at = 0;
  for (; at + kSums * kLanes <= size; at += kSums * kLanes) {
    for (std::size_t i = 0; i < kSums; ++i) {
      Lanes x, y;
      std::memcpy(&x, a + at + i * kLanes, sizeof(x));
      std::memcpy(&y, b + at + i * kLanes, sizeof(y));
      sums[i] += x * y;
    }
  }
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float sum = 0;
  for (std::size_t i = 0; i < kLanes; ++i) sum += all[i];
  for (; at < size; ++at) sum += a[at] * b[at];
  return sum;
}

[[gnu::always_inline]] inline void dot_each(const float* query, std::size_t size, const float* rows,
                                            float* scores, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) scores[i] = dot_of(query, rows + i * size, size);
}

void dot_portable(const float* query, std::size_t size, const float* rows, float* scores, std::size_t count) {
  dot_each(query, size, rows, scores, count);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void dot_avx2(const float* query, std::size_t size, const float* rows,
                                          float* scores, std::size_t count) {
  dot_each(query, size, rows, scores, count);
}
#endif

}  // namespace

bool make_unit(std::span<float> vector) {
  double squares = 0;
  for (const float number : vector) squares += static_cast<double>(number) * static_cast<double>(number);
  const double length = std::sqrt(squares);
  if (!std::isfinite(length) || length <= 0) return false;
  for (float& number : vector) number = static_cast<float>(static_cast<double>(number) / length);
  return true;
}

void dot_rows(std::span<const float> query, const float* rows, std::span<float> scores) {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  if (has_avx2) return dot_avx2(query.data(), query.size(), rows, scores.data(), scores.size());
#endif
  dot_portable(query.data(), query.size(), rows, scores.data(), scores.size());
}

void VectorIndex::clear() {
  dimensions_ = 0;
  ids_.clear();
  numbers_.clear();
}

bool VectorIndex::add(std::int64_t id, std::span<const float> vector) {
  if (ids_.empty()) dimensions_ = vector.size();
  if (vector.empty() || vector.size() != dimensions_) return false;
  ids_.push_back(id);
  numbers_.insert(numbers_.end(), vector.begin(), vector.end());
  return true;
}

void VectorIndex::keep_only(const std::function<bool(std::int64_t id)>& keep) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!keep(ids_[i])) continue;
    if (kept != i) {
      ids_[kept] = ids_[i];
      std::memmove(numbers_.data() + kept * dimensions_, numbers_.data() + i * dimensions_,
                   dimensions_ * sizeof(float));
    }
    ++kept;
  }
  ids_.resize(kept);
  numbers_.resize(kept * dimensions_);
}

void VectorIndex::visit_best(std::span<const float> query,
                             const std::function<bool(const Match&)>& visit) const {
  if (ids_.empty() || query.size() != dimensions_) return;
  std::vector<float> scores(ids_.size());
  dot_rows(query, numbers_.data(), scores);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > 0) order.push_back(i);
  }
  const auto is_better = [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : ids_[a] > ids_[b];
  };
  visit_in_order(std::move(order), is_better, [&](std::size_t i) { return visit({ids_[i], scores[i]}); });
}

}  // namespace praxis

// Unit vectors of one model in memory, and an exact search over all of them. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace praxis {

/// Sets the length of a vector to 1. False if it has no direction: zero, infinite or not a number.
bool make_unit(std::span<float> vector);

/// The dot products of `query` with each row of `rows`, which has `scores.size()` rows of `query.size()`
/// numbers. Uses AVX2 where the processor has it.
void dot_rows(std::span<const float> query, const float* rows, std::span<float> scores);

class VectorIndex {
 public:
  struct Match {
    std::int64_t id = 0;
    float score = 0;  ///< the cosine of the angle
  };

  std::size_t size() const { return ids_.size(); }
  std::size_t dimensions() const { return dimensions_; }
  std::span<const std::int64_t> ids() const { return ids_; }
  void clear();
  /// Adds a unit vector. False, and nothing is added, if the others have another length.
  bool add(std::int64_t id, std::span<const float> vector);
  /// Keeps the ids that `keep` accepts.
  void keep_only(const std::function<bool(std::int64_t id)>& keep);
  /// Gives the matches with a positive score to `visit`, the best first, until it returns false. None if the
  /// query, a unit vector, has another length.
  void visit_best(std::span<const float> query, const std::function<bool(const Match&)>& visit) const;

 private:
  std::size_t dimensions_ = 0;
  std::vector<std::int64_t> ids_;
  std::vector<float> numbers_;  // one row for each id
};

}  // namespace praxis

#include "praxis/runtime/testing.hpp"

namespace praxis {

RuntimeOptions repeatable_options(std::uint64_t seed) {
  RuntimeOptions options;
  options.environment = fixed_environment(seed);
  options.executor = make_orderly_executor();
  return options;
}

}  // namespace praxis

// What a program needs to test its agents without network, key or chance: a runtime on which each run is the
// same, and a model whose answers the test computes. Scripted models are in `praxis/models/model.hpp`.
#pragma once

#include <cstdint>

#include "praxis/base/environment.hpp"
#include "praxis/base/executor.hpp"
#include "praxis/models/stub_model.hpp"
#include "praxis/runtime/runtime.hpp"

#pragma GCC visibility push(default)
namespace praxis {

/// Options of a runtime on which a run records and publishes the same each time, also with parallel calls: a
/// clock that advances by reading it, random numbers from `seed`, one thread (`make_orderly_executor`, with
/// its limits), a journal in memory. Sessions have to be used one after the other.
RuntimeOptions repeatable_options(std::uint64_t seed = 1);

}  // namespace praxis
#pragma GCC visibility pop

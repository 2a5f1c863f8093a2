// Makes a case of a suite from a run.
#pragma once

#include <string>

#include "app/workspace.hpp"
#include "praxis/base/result.hpp"

namespace praxis::evals {

/// A file with one more case.
struct AddedCase {
  std::string id;    ///< of the case
  std::string text;  ///< the whole suite file
};

/// Adds a case at the end of the text of a suite (TOML; empty: a new one): the first prompt of the run, its
/// answer as `expected`, and the tools that it called. Error `kInput`: the run has no answer or attachments,
/// the suite cannot take the case, or has one with this id.
Result<AddedCase> add_case(const app::StoredSession& run, const std::string& suite, const std::string& path);

}  // namespace praxis::evals

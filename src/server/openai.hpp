// OpenAI's Chat Completions in front of our runs: agents appear as models, a request is one turn of a new
// run.
#pragma once

#include "server/problem.hpp"

namespace praxis::server {

/// A refusal in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`.
HttpAnswer openai_error(const HttpAnswer& problem);

}  // namespace praxis::server

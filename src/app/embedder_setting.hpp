// The setting `embedder`.
#pragma once

#include <memory>

#include "app/workspace.hpp"
#include "praxis/memory/embedder.hpp"

namespace praxis::app {

/// Null if the setting is empty. Error `kInput`: an unknown provider, one without embeddings of OpenAI's
/// form, or one whose key is missing.
Result<std::shared_ptr<Embedder>> configured_embedder(const Workspace& workspace);

}  // namespace praxis::app

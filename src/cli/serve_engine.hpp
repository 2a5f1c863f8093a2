// The engine of `serve`, from its options.
#pragma once

#include <optional>

#include "app/workspace.hpp"
#include "cli/options.hpp"
#include "server/restate_endpoint.hpp"

namespace praxis::cli {

/// What the options of the engine say; nothing without an engine. Makes the token file if it is missing.
/// Error `kInput`: an address that cannot be used; a journal that is sealed, or kept in memory only; others
/// on the network could read the records, unless `plain_http`.
Result<std::optional<server::RestateOptions>> engine_of(const EngineOptions& options,
                                                        const app::Workspace& workspace, bool plain_http);

}  // namespace praxis::cli

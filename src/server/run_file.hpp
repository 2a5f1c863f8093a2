// A run as one HTML file that opens without a server: the page with the run inside.
#pragma once

#include <memory>
#include <string>

#include "app/without_secrets.hpp"
#include "praxis/journal/journal.hpp"
#include "server/page.hpp"

namespace praxis::server {

/// Whether the program was built with the page that such a file needs.
bool makes_run_files(const Page& page);

/// The file of a session and all below it, without secrets by the rules for exports. Errors of the journal;
/// `kInput`: the run has more records than a browser can show from a file.
Result<std::string> run_file(const std::shared_ptr<Journal>& journal, const SessionId& session,
                             const app::Redactions& redactions, const Page& page);

}  // namespace praxis::server

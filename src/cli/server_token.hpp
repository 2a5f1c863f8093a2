// The tokens of servers: where the local one keeps its own, and which one a command sends.
#pragma once

#include <string>

#include "praxis/base/result.hpp"

namespace praxis::cli {

/// The file in which the local server keeps its tokens. Error `kInput`: there is no home folder.
Result<std::string> local_token_file();

/// The token for the server at `url`: of `file`, else of PRAXIS_TOKEN, else that of the local server, which
/// is only for addresses of this machine. Error `kInput` says what to give.
Result<std::string> token_for(const std::string& url, const std::string& file);

}  // namespace praxis::cli

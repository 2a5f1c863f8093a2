// The page and how it gets its token.
#include "server/handlers.hpp"
#include "server/page.hpp"

namespace praxis::server {

Result<HttpAnswer> show_page(Service&, const Call& call) { return built_in_page().answer("/", call.headers); }

Result<HttpAnswer> show_asset(Service&, const Call& call) {
  return built_in_page().answer("/assets/" + call.name("file"), call.headers);
}

Result<HttpAnswer> log_in(Service& service, const Call& call) {
  const auto body = call.object({"code"});
  if (!body) return fail(body.error());
  const auto code = text_of(*body, "code");
  if (!code) return fail(code.error());
  const auto token = service.login ? service.login->exchange(*code, service.runtime->environment().now())
                                   : std::optional<std::string>();
  if (!token) {
    return problem(403, make_error(ErrorCode::kPolicy,
                                   "the code was used, is older than a minute, or is wrong; give a token"));
  }
  HttpAnswer answer = json_answer(JsonObject{{"token", *token}});
  answer.headers.emplace_back("Cache-Control", "no-store");
  return answer;
}

}  // namespace praxis::server

// `api`: calls a server. The body of the answer goes to standard output as it arrives.
#include <algorithm>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "app/hints.hpp"
#include "cli/commands.hpp"
#include "cli/interrupts.hpp"
#include "cli/server_client.hpp"
#include "praxis/net/http_client.hpp"

namespace praxis::cli {
namespace {

/// Writes the body as it arrives. The client is that of this command alone, so that a slow reader of the
/// output may keep it waiting, and with it the server.
class Printing final : public HttpSink {
 public:
  explicit Printing(Stream& out) : out_(out) {}

  void on_head(const HttpResponseHead& head) override { status_ = head.status; }
  void on_body(std::string_view bytes) override { out_.write(bytes); }
  void on_done(Status status) override { done_.set_value(std::move(status)); }

  std::future<Status> done() { return done_.get_future(); }
  int status() const { return status_; }

 private:
  Stream& out_;
  std::promise<Status> done_;
  int status_ = 0;
};

Result<HttpRequest> request_of(const ApiOptions& options) {
  if (!options.path.starts_with('/'))
    return fail(
        app::usage_error("the path begins with /, such as /api/v1/runs, not \"" + options.path + "\""));
  std::string method = options.method;
  std::ranges::transform(method, method.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  auto made = server_request(options.server, std::move(method), options.path);
  if (!made) return made;
  HttpRequest& request = *made;
  for (const std::string& header : options.headers) {
    const std::size_t colon = header.find(": ");
    if (colon == std::string::npos)
      return fail(app::usage_error("a header has the form \"NAME: VALUE\", not \"" + header + "\""));
    request.headers.emplace_back(header.substr(0, colon), header.substr(colon + 2));
  }
  if (options.data) {
    auto body = *options.data == "-" ? read_input("-") : Result<std::string>(*options.data);
    if (!body) return fail(body.error());
    request.body = std::make_shared<const std::string>(*std::move(body));
    if (!find_header(request.headers, "content-type"))
      request.headers.emplace_back("Content-Type", "application/json");
  }
  request.max_body_bytes = SIZE_MAX;  // event streams have no end, and nothing is kept
  return made;
}

}  // namespace

Result<ExitStatus> execute(const ApiOptions& options, Console& console) {
  Interrupts interrupts;
  interrupts.on_first([] {});
  auto request = request_of(options);
  if (!request) return fail(request.error());
  const auto client = make_http_client();
  const auto printing = std::make_shared<Printing>(console.out);
  auto done = printing->done();
  client->send(*std::move(request), printing, interrupts.stop_token());
  const Status status = done.get();
  if (interrupts.received() != 0)
    return exit_status(make_error(ErrorCode::kCancelled, "interrupted"), interrupts.received());
  if (!status) return fail(exchange_error(status.error()));
  if (printing->status() / 100 != 2) return fail(refusal(printing->status()));
  return ExitStatus::kFinished;
}

}  // namespace praxis::cli

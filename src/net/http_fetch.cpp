#include <semaphore>
#include <utility>

#include "praxis/net/http_client.hpp"

namespace praxis {
namespace {

class Fetch final : public HttpSink {
 public:
  void on_head(const HttpResponseHead& head) override {
    response_.status = head.status;
    response_.headers = head.headers;
  }
  void on_body(std::string_view bytes) override { response_.body.append(bytes); }
  void on_done(Status status) override {
    status_ = std::move(status);
    done_.release();
  }

  Result<HttpResponse> wait() {
    done_.acquire();
    if (!status_) return fail(std::move(status_.error()));
    return std::move(response_);
  }

 private:
  HttpResponse response_;
  Status status_;
  std::binary_semaphore done_{0};
};

}  // namespace

Result<HttpResponse> http_fetch(HttpClient& client, HttpRequest request, std::stop_token stop) {
  auto fetch = std::make_shared<Fetch>();
  client.send(std::move(request), fetch, std::move(stop));
  return fetch->wait();
}

}  // namespace praxis

#include <future>
#include <utility>

#include "praxis/models/model.hpp"

namespace praxis {
namespace {

class Waiter final : public ModelSink {
 public:
  explicit Waiter(const std::function<void(const ModelDelta&)>& on_delta) : on_delta_(on_delta) {}

  void on_delta(const ModelDelta& delta) override {
    if (on_delta_) on_delta_(delta);
  }
  void on_done(Result<ModelResponse> response) override { done_.set_value(std::move(response)); }

  Result<ModelResponse> wait() { return done_.get_future().get(); }

 private:
  const std::function<void(const ModelDelta&)>& on_delta_;
  std::promise<Result<ModelResponse>> done_;
};

}  // namespace

Result<ModelResponse> complete(Model& model, const ModelRequest& request, std::stop_token stop,
                               const std::function<void(const ModelDelta&)>& on_delta) {
  const auto session = model.open_session();
  const auto waiter = std::make_shared<Waiter>(on_delta);
  session->start(request, waiter, std::move(stop));
  return waiter->wait();
}

}  // namespace praxis

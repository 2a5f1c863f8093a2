#include "praxis/models/router.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <ranges>
#include <tuple>
#include <utility>

#include "models/vendor_error.hpp"
#include "praxis/base/environment.hpp"

namespace praxis {
namespace {

constexpr std::int64_t kUsualOutput = 1024;  ///< tokens; used if neither request nor model bounds the output

bool has_media(const History& history, bool files) {
  const auto is_media = [files](const Part& part) {
    if (const auto* result = std::get_if<ToolResultPart>(&part)) {
      return files ? !result->files.empty() : !result->images.empty();
    }
    return files ? std::holds_alternative<FilePart>(part) : std::holds_alternative<ImagePart>(part);
  };
  return std::ranges::any_of(history.messages(),
                             [&](const MessagePtr& m) { return std::ranges::any_of(m->parts, is_media); });
}

/// The capabilities that a request needs.
struct Needs {
  bool tools, images, files;
  std::int64_t input;
  std::int64_t output;  ///< tokens; 0: any number

  explicit Needs(const ModelRequest& request)
      : tools(request.tools && !request.tools->empty()),
        images(has_media(request.history, false)),
        files(has_media(request.history, true)),
        input(request.history.estimated_tokens() + estimate_tokens(request.instructions)),
        output(request.options.max_output_tokens.value_or(0)) {}

  /// Why a model cannot handle the request; empty if it can.
  std::string unmet_by(const ModelCapabilities& can) const {
    if (tools && !can.tools) return "does not support tools";
    if (images && !can.images) return "does not accept images";
    if (files && !can.files) return "does not accept files";
    if (can.context_window > 0 && input > can.context_window) {
      return "has a window of " + std::to_string(can.context_window) + " tokens, less than about " +
             std::to_string(input);
    }
    if (can.max_output > 0 && output > can.max_output) {
      return "gives at most " + std::to_string(can.max_output) + " tokens, less than " +
             std::to_string(output);
    }
    return {};
  }
};

MicroUsd estimated_cost(const Model& model, const ModelRequest& request, std::int64_t input) {
  Usage usage;
  usage.input = input;
  const std::int64_t most = model.capabilities().max_output;
  usage.output =
      request.options.max_output_tokens.value_or(most > 0 ? std::min(most, kUsualOutput) : kUsualOutput);
  return model.price(usage);
}

/// Whether another model may succeed where this one failed.
bool is_worth_another(const Error& error) {
  using enum ErrorKind;
  constexpr std::array kElsewhere{kAuth, kBilling, kNotFound, kContextOverflow};
  return error.code == ErrorCode::kModel &&
         (error.retriable || std::ranges::find(kElsewhere, error.kind()) != kElsewhere.end());
}

/// A model and how it did in the calls so far.
struct Member {
  std::shared_ptr<Model> model;
  std::atomic<std::size_t> failures = 0;
  std::atomic<std::int64_t> latency = 0;  ///< nanoseconds

  void answered_after(std::chrono::nanoseconds time) {
    const std::int64_t before = latency;
    latency = before == 0 ? time.count() : before + (time.count() - before) / 4;
  }
};

struct RouterState {
  std::vector<std::unique_ptr<Member>> members;
  RouterOptions options;
};

class RouterSession;

/// One call, tried with one candidate after another.
class Attempt final : public ModelSink, public std::enable_shared_from_this<Attempt> {
 public:
  Attempt(RouterSession& session, ModelRequest request, std::shared_ptr<ModelSink> sink, std::stop_token stop,
          std::vector<std::size_t> order)
      : session_(session),
        request_(std::move(request)),
        sink_(std::move(sink)),
        stop_(std::move(stop)),
        order_(std::move(order)) {}

  void start();
  void on_delta(const ModelDelta& delta) override {
    shown_ |= !std::holds_alternative<KeepAlive>(delta) && !std::holds_alternative<HeldBack>(delta) &&
              !std::holds_alternative<Restarted>(delta);
    sink_->on_delta(delta);
  }
  void on_done(Result<ModelResponse> response) override;

 private:
  bool may_go_on(const Error& error) const;
  void keep_usage(const Member& member, Error& error);

  RouterSession& session_;  ///< outlives its calls
  const ModelRequest request_;
  const std::shared_ptr<ModelSink> sink_;
  const std::stop_token stop_;
  const std::vector<std::size_t> order_;
  std::size_t at_ = 0;
  bool shown_ = false;
  std::chrono::nanoseconds started_{0};
  std::vector<std::string> warnings_;
  Usage failed_usage_;  ///< of the members that were asked in vain
};

class RouterSession final : public ModelSession {
 public:
  explicit RouterSession(std::shared_ptr<RouterState> shared) : shared_(std::move(shared)) {
    sessions_.resize(shared_->members.size());
  }

  void start(const ModelRequest& request, std::shared_ptr<ModelSink> sink, std::stop_token stop) override {
    std::vector<std::size_t> fitting;
    std::vector<Candidate> candidates;
    std::string why_not;
    const Needs needs(request);
    for (std::size_t i = 0; i < shared_->members.size(); ++i) {
      Member& member = *shared_->members[i];
      const MicroUsd cost = estimated_cost(*member.model, request, needs.input);
      std::string unmet = needs.unmet_by(member.model->capabilities());
      if (!request.only.empty() && member.model->name() != request.only) unmet = "was not chosen";
      if (unmet.empty() && shared_->options.max_usd.value > 0 && cost > shared_->options.max_usd) {
        unmet = "would cost about $" + to_json_text(Json(cost.usd()));
      }
      if (unmet.empty()) {
        fitting.push_back(i);
        candidates.push_back({member.model, cost, member.failures, std::chrono::nanoseconds(member.latency)});
      } else {
        why_not += "; " + member.model->name() + ' ' + unmet;
      }
    }
    std::vector<std::size_t> order;
    for (const std::size_t chosen : shared_->options.strategy(request, candidates)) {
      if (chosen < fitting.size()) order.push_back(fitting[chosen]);
    }
    if (order.empty()) {
      return sink->on_done(
          fail(model_error(ErrorKind::kInvalidRequest, "no model of the router fits this call" + why_not)));
    }
    std::make_shared<Attempt>(*this, request, std::move(sink), std::move(stop), std::move(order))->start();
  }

  Member& member(std::size_t index) { return *shared_->members[index]; }
  bool restarts() const { return shared_->options.restart; }
  std::chrono::nanoseconds monotonic() const { return shared_->options.environment->monotonic(); }
  ModelSession& session(std::size_t index) {
    if (!sessions_[index]) sessions_[index] = member(index).model->open_session();
    return *sessions_[index];
  }

 private:
  const std::shared_ptr<RouterState> shared_;
  std::vector<std::unique_ptr<ModelSession>> sessions_;  ///< opened on first use
};

void Attempt::start() {
  started_ = session_.monotonic();
  session_.session(order_[at_]).start(request_, shared_from_this(), stop_);
}

bool Attempt::may_go_on(const Error& error) const {
  return at_ + 1 < order_.size() && is_worth_another(error) && !stop_.stop_requested() &&
         (!shown_ || session_.restarts());
}

/// Adds what a failed member used to the sum, priced by that member.
void Attempt::keep_usage(const Member& member, Error& error) {
  auto used = take_reported_usage(error);
  if (!used) return;
  if (used->cost.value == 0) used->cost = member.model->price(*used);
  failed_usage_ += *used;
}

void Attempt::on_done(Result<ModelResponse> response) {
  Member& member = session_.member(order_[at_]);
  if (response) {
    member.failures = 0;
    member.answered_after(session_.monotonic() - started_);
    // The price is set here, because only the router knows which model answered.
    if (response->usage.cost.value == 0) response->usage.cost = member.model->price(response->usage);
    response->failed_usage += failed_usage_;
    response->warnings.insert(response->warnings.begin(), warnings_.begin(), warnings_.end());
    return sink_->on_done(std::move(response));
  }
  if (response.error().code != ErrorCode::kCancelled) ++member.failures;
  keep_usage(member, response.error());
  if (!may_go_on(response.error())) {
    report_usage(response.error(), failed_usage_);
    return sink_->on_done(std::move(response));
  }
  warnings_.push_back(response.error().message + "; asked the next model");
  if (std::exchange(shown_, false)) sink_->on_delta(Restarted{warnings_.back()});
  ++at_;
  start();
}

class Router final : public Model {
 public:
  Router(std::vector<std::shared_ptr<Model>> models, RouterOptions options) {
    shared_->options = std::move(options);
    if (!shared_->options.environment) shared_->options.environment = system_environment();
    for (auto& model : models) {
      name_ += (name_.empty() ? "" : "|") + model->name();
      shared_->members.push_back(std::make_unique<Member>());
      shared_->members.back()->model = std::move(model);
    }
  }

  const std::string& name() const override { return name_; }
  /// Capabilities that at least one model has: each call goes to a model that supports what it needs.
  /// `max_output` is known only if it is known for every model; `compaction` is true only if every model has
  /// it.
  ModelCapabilities capabilities() const override {
    ModelCapabilities all = shared_->members.front()->model->capabilities();
    for (const auto& member : shared_->members | std::views::drop(1)) {
      const ModelCapabilities one = member->model->capabilities();
      all.streaming |= one.streaming;
      all.tools |= one.tools;
      all.images |= one.images;
      all.files |= one.files;
      all.reasoning |= one.reasoning;
      all.compaction &= one.compaction;
      all.context_window = std::max(all.context_window, one.context_window);
      const bool bounded = all.max_output != 0 && one.max_output != 0;
      all.max_output = bounded ? std::max(all.max_output, one.max_output) : 0;
    }
    return all;
  }
  std::unique_ptr<ModelSession> open_session() override { return std::make_unique<RouterSession>(shared_); }
  /// Upper bound: the price of the most expensive model, because the answering model is not known yet; zero
  /// if any model's price is unknown. An answer carries the price of the model that gave it.
  MicroUsd price(const Usage& usage) const override {
    MicroUsd most;
    for (const auto& member : shared_->members) {
      const MicroUsd price = member->model->price(usage);
      if (price.value == 0) return {};
      most = std::max(most, price);
    }
    return most;
  }

 private:
  std::string name_;
  const std::shared_ptr<RouterState> shared_ = std::make_shared<RouterState>();
};

}  // namespace

std::vector<std::size_t> by_priority(const ModelRequest&, std::span<const Candidate> candidates) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> by_cost(const ModelRequest& request, std::span<const Candidate> candidates) {
  auto order = by_priority(request, candidates);
  std::ranges::sort(order, {}, [&](std::size_t i) {  // equal costs keep the given order
    return std::tuple(candidates[i].cost.value == 0, candidates[i].cost, i);
  });
  return order;
}

std::vector<std::size_t> by_latency(const ModelRequest& request, std::span<const Candidate> candidates) {
  auto order = by_priority(request, candidates);
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const Candidate& one = candidates[i];
    const bool failing = one.failures > 0 && one.latency.count() == 0;
    return std::tuple(failing, one.latency, i);
  });
  return order;
}

std::shared_ptr<Model> make_router(std::vector<std::shared_ptr<Model>> models, RouterOptions options) {
  return std::make_shared<Router>(std::move(models), std::move(options));
}

}  // namespace praxis

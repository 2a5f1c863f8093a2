#include "runtime/shared_specs.hpp"

namespace praxis {

AgentSpecPtr SharedSpecs::completed(const AgentSpecPtr& spec, const ModelProfile& profile,
                                    const std::string& preface, Millis patience) {
  const Millis own = spec->limits.patience;
  const Millis wanted = own.count() != 0 ? own : patience;
  const auto fits = [&](const AgentSpec& one) {
    return one.profile == profile && one.preface == preface && one.limits.patience == wanted;
  };
  if (fits(*spec)) return spec;
  const std::lock_guard lock(mutex_);
  if (original_.lock() != spec || !fits(*completed_)) {
    auto completed = std::make_shared<AgentSpec>(*spec);
    completed->profile = profile;
    completed->preface = preface;
    completed->limits.patience = wanted;
    original_ = spec;
    completed_ = std::move(completed);
  }
  return completed_;
}

std::shared_ptr<const PreparedAgent> SharedSpecs::prepared(const AgentSpecPtr& spec) {
  const std::lock_guard lock(mutex_);
  if (prepared_for_.lock() != spec) {
    prepared_ = std::make_shared<const PreparedAgent>(prepare_agent(*spec));
    prepared_for_ = spec;
  }
  return prepared_;
}

}  // namespace praxis

#include "server/past_events.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include "runtime/agent_tree_nodes.hpp"

namespace praxis::server {
namespace {

constexpr std::uint64_t kFirstWindow = 1024, kLargestWindow = 65'536;  // positions of the journal

/// Finds the last records of a run among those of all sessions, backwards.
class Finder {
 public:
  Finder(Journal& journal, Lineages& lineages, const FeedFilter& filter, std::size_t wanted)
      : journal_(journal), lineages_(lineages), filter_(filter), wanted_(wanted) {}

  /// Takes the records up to `end`, until there are enough, or the run has no more.
  Status look_back_from(std::uint64_t end) {
    std::uint64_t window = kFirstWindow;
    while (end > 0 && !is_done()) {
      const std::uint64_t after = end - std::min(end, window);
      const auto changes = journal_.changes(after, window);
      if (!changes) return fail(changes.error());
      for (const Change& change : *changes | std::views::reverse) {
        if (change.position <= end && !is_done()) take(change);
      }
      end = after;
      window = std::min(window * 2, kLargestWindow);
    }
    std::ranges::reverse(found_);
    return {};
  }
  const std::vector<Change>& found() const { return found_; }
  bool has_earlier() const { return has_earlier_; }

 private:
  bool is_done() const { return is_first_ || has_earlier_; }

  void take(const Change& change) {
    if (!covers(filter_, lineages_, change.session, lineages_.root_of(change.session))) return;
    if (found_.size() == wanted_) {
      has_earlier_ = true;
      return;
    }
    found_.push_back(change);
    is_first_ = change.session == filter_.session && change.seq == 1;  // the others are below it
  }

  Journal& journal_;
  Lineages& lineages_;
  const FeedFilter& filter_;
  const std::size_t wanted_;
  std::vector<Change> found_;
  bool is_first_ = false, has_earlier_ = false;
};

}  // namespace

Result<PastEvents> past_events(const std::shared_ptr<Journal>& journal, const std::shared_ptr<Folds>& folds,
                               Lineages& lineages, const FeedFilter& filter, const Position& before,
                               std::size_t records) {
  Finder finder(*journal, lineages, filter, records);
  const std::uint64_t end = before.event == 0 && before.record > 0 ? before.record - 1 : before.record;
  if (auto looked = finder.look_back_from(end); !looked) return fail(looked.error());
  std::map<SessionId, std::uint64_t> last;
  for (const Change& change : finder.found()) last[change.session] = change.seq;
  PastEvents past;
  past.has_earlier = finder.has_earlier();
  Projection projection(journal, folds);
  for (const Change& change : finder.found()) {
    if (const auto until = last.find(change.session); until != last.end()) {
      projection.expect(change.session, until->second);
      last.erase(until);
      if (change.seq > 1) {
        const auto state = projection.before(change.session, change.seq);
        if (!state) return fail(state.error());
        past.before.push_back(node_of(**state));
        if (const auto row = journal->session(change.session)) past.before.back().created = row->created;
      }
    }
    auto events = projection.events_of(change.session, change.seq);
    if (!events) return fail(events.error());
    for (std::uint32_t i = 0; i < events->size(); ++i) {
      const Position position{change.position, i};
      if (position < before && wants(filter, (*events)[i].body))
        past.events.emplace_back(position, std::move((*events)[i]));
    }
  }
  return past;
}

}  // namespace praxis::server

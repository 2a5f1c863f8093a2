#include "server/a2a_push.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/hints.hpp"
#include "server/problem.hpp"

namespace praxis::server {
namespace {

constexpr std::size_t kMostOfTask = 10, kMostOfServer = 1'000;

/// What a warning may say of an address: its path and query can hold a secret.
std::string host_of_address(const std::string& url) {
  const auto parsed = parse_url(url);
  return parsed ? parsed->host : "an address that is not valid";
}

/// Names the first host that is not valid.
Error hosts_error(const std::vector<std::string>& hosts) {
  const auto wrong =
      std::ranges::find_if(hosts, [](const std::string& host) { return !HostRules::parse({host}); });
  return app::usage_error("--push-host: \"" + *wrong + "\" is not a host",
                          "write example.com, example.com:8443 or *.example.com");
}

}  // namespace

Result<std::shared_ptr<A2aPush>> A2aPush::open(const app::Workspace& workspace, PushRules rules,
                                               PushedTask::Source source, std::shared_ptr<EventFeed> feed,
                                               std::shared_ptr<Executor> executor, Warn warn) {
  if (rules.hosts.empty()) return nullptr;
  auto hosts = HostRules::parse(rules.hosts);
  if (!hosts) return fail(hosts_error(rules.hosts));
  if (!workspace.in_file())
    return fail(app::usage_error("push notifications need a journal in a file, which keeps who gets them",
                                 "leave out --push-host, or give --journal FILE"));
  auto file = app::PushFile::open(workspace);
  if (!file) return fail(file.error());
  auto http = make_http_client({}, executor);
  return std::make_shared<A2aPush>(
      *std::move(file),
      std::make_shared<const PushQueue::Means>(std::move(executor), std::move(http), std::move(rules),
                                               *std::move(hosts)),
      std::move(source), std::move(feed), std::move(warn));
}

A2aPush::A2aPush(std::unique_ptr<app::PushFile> file, std::shared_ptr<const PushQueue::Means> means,
                 PushedTask::Source source, std::shared_ptr<EventFeed> feed, Warn warn)
    : file_(std::move(file)),
      means_(std::move(means)),
      source_(std::move(source)),
      feed_(std::move(feed)),
      warn_(std::move(warn)) {}

Status A2aPush::start() {
  const auto all = file_->all();
  if (!all) return fail(all.error());
  for (const app::PushAddress& address : *all) {
    const auto id = A2aTaskId::parse(address.task);
    const auto row =
        id ? source_.journal->session(id->run) : Result<SessionRow>(fail(not_found("task", address.task)));
    if (!row && row.error().kind() != ErrorKind::kNotFound) return fail(row.error());
    if (!row) {
      if (auto gone = file_->remove(address.task, address.id); !gone) return gone;
      continue;
    }
    if (!check(address)) {
      if (warn_)
        warn_("task " + address.task + " is not reported to " + host_of_address(address.url) +
              ", which --push-host does not name any more");
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (auto begun = begin(address); !begun) return begun;
  }
  return {};
}

void A2aPush::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  for (auto& [key, entry] : entries_) entry.pushed->stop();
  entries_.clear();
}

Status A2aPush::check(const app::PushAddress& address, const std::string& where) const {
  const auto url = parse_url(address.url);
  const std::string field = where + "url";
  if (!url) return fail(field_error(field, "is not an http or https address"));
  if (!means_->hosts.allows(*url))
    return fail(field_error(field, "names the host " + url->host +
                                       ", to which this server sends nothing; praxis serve --push-host "
                                       "allows a host"));
  if (url->is_address && !means_->hosts.allows_address(*url, url->host))
    return fail(field_error(field, "names an address of a private network"));
  return {};
}

Status A2aPush::add(const app::PushAddress& address) {
  if (auto may = check(address); !may) return may;
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return fail(ErrorCode::kCancelled, "the server is shutting down");
  const bool is_new = !entries_.contains({address.task, address.id});
  const auto same =
      std::ranges::count_if(entries_, [&](const auto& e) { return e.first.first == address.task; });
  if (is_new && (entries_.size() >= kMostOfServer || static_cast<std::size_t>(same) >= kMostOfTask))
    return fail(
        ErrorCode::kLimit,
        "a task has at most 10 push notification configurations, and a server 1000; delete one first");
  if (auto kept = file_->put(address); !kept) return kept;
  auto begun = begin(address);
  if (begun) return begun;
  entries_.erase({address.task, address.id});
  std::ignore = file_->remove(address.task, address.id);  // else it begins with the next start
  return begun;
}

std::vector<app::PushAddress> A2aPush::of_task(const std::string& task) const {
  const std::lock_guard lock(mutex_);
  std::vector<app::PushAddress> all;
  for (const auto& [key, entry] : entries_) {
    if (key.first == task) all.push_back(entry.address);
  }
  return all;
}

std::optional<app::PushAddress> A2aPush::find(const std::string& task, const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({task, id});
  return found == entries_.end() ? std::nullopt : std::optional(found->second.address);
}

Status A2aPush::remove(const std::string& task, const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (auto gone = file_->remove(task, id); !gone) return gone;
  const auto found = entries_.find({task, id});
  if (found == entries_.end()) return {};
  found->second.pushed->stop();
  entries_.erase(found);
  return {};
}

/// Under the lock.
Status A2aPush::begin(const app::PushAddress& address) {
  const Key key{address.task, address.id};
  const std::uint64_t number = ++last_number_;
  auto ended = [weak = weak_from_this(), runs = std::weak_ptr(source_.runs), key,
                number](PushQueue::End how) {
    const auto living = runs.lock();
    if (!living) return;
    living->post([weak, key, number, how] {
      if (const auto self = weak.lock()) self->on_end(key, number, how);
    });
  };
  auto queue = std::make_shared<PushQueue>(means_, address, std::move(ended));
  auto pushed = std::make_shared<PushedTask>(source_, means_, *A2aTaskId::parse(address.task), queue);
  if (const auto before = entries_.find(key); before != entries_.end()) before->second.pushed->stop();
  entries_[key] = {address, pushed, number};
  return pushed->start(*feed_);
}

/// The task has ended and its end was delivered, or the receiver was given up.
void A2aPush::on_end(const Key& key, std::uint64_t number, PushQueue::End how) {
  std::string url;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.number != number) return;  // another took its place
    url = found->second.address.url;
  }
  if (how == PushQueue::End::kGivenUp && warn_)
    warn_("task " + key.first + " is not reported any more to " + host_of_address(url) +
          ", which took no notification");
  const auto gone = remove(key.first, key.second);
  if (!gone && warn_) warn_("task " + key.first + " may be reported again: " + gone.error().message);
}

}  // namespace praxis::server

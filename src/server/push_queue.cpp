#include "server/push_queue.hpp"

#include <algorithm>
#include <utility>

namespace praxis::server {
namespace {

constexpr std::size_t kMostAnswer = 64 * 1024;  // bytes; what a receiver says is not read
constexpr unsigned kMostDoublings = 20;

/// The specification names the header of credentials; that of the token is the one of its libraries.
HttpHeaders push_headers(const app::PushAddress& address) {
  HttpHeaders headers{{"Content-Type", "application/a2a+json"}, {"A2A-Version", "1.0"}};
  if (!address.scheme.empty())
    headers.emplace_back("Authorization", address.scheme + " " + address.credentials);
  if (!address.token.empty()) headers.emplace_back("X-A2A-Notification-Token", address.token);
  return headers;
}

}  // namespace

/// Learns whether a receiver took a notification: by the status, even if the rest of its answer never comes.
class PushQueue::Receipt final : public HttpSink {
 public:
  explicit Receipt(std::shared_ptr<PushQueue> queue) : queue_(std::move(queue)) {}
  void on_head(const HttpResponseHead& head) override { status_ = head.status; }
  void on_body(std::string_view /*bytes*/) override {}
  void on_done(Status /*status*/) override { queue_->on_status(status_); }

 private:
  const std::shared_ptr<PushQueue> queue_;
  int status_ = 0;
};

PushQueue::PushQueue(std::shared_ptr<const Means> means, const app::PushAddress& address,
                     std::move_only_function<void(End)> ended)
    : means_(std::move(means)),
      url_(address.url),
      headers_(push_headers(address)),
      ended_(std::move(ended)) {}

void PushQueue::add(std::vector<std::string> bodies, const std::function<std::string()>& whole,
                    bool is_last) {
  {
    const std::lock_guard lock(mutex_);
    if (is_over_ || has_last_) return;
    has_last_ = is_last;
    if (waiting_.size() + bodies.size() > means_->rules.most_waiting) {
      waiting_.resize(std::min<std::size_t>(waiting_.size(), is_sending_ ? 1 : 0));
      bodies = {whole()};
    }
    for (std::string& body : bodies) waiting_.push_back(std::make_shared<const std::string>(std::move(body)));
    if (is_sending_) return;
    is_sending_ = true;
  }
  send_next();
}

void PushQueue::stop() {
  std::move_only_function<void(End)> dropped;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    waiting_.clear();
    dropped = std::move(ended_);
    ended_ = nullptr;
  }
  stop_.request_stop();
}

/// Called while `is_sending_` by the one that set it.
void PushQueue::send_next() {
  HttpRequest request;
  request.method = "POST";
  request.url = url_;
  request.headers = headers_;
  {
    const std::lock_guard lock(mutex_);
    is_sending_ = !is_over_ && !waiting_.empty();
    if (!is_sending_) return;
    request.body = waiting_.front();
  }
  request.timeouts.total = means_->rules.answer;
  request.max_body_bytes = kMostAnswer;
  request.use_proxy = false;  // it would look names up itself, so that the rule would not hold for them
  request.allow_address = [means = means_, url = parse_url(url_)](std::string_view address) {
    return url && means->hosts.allows_address(*url, address);
  };
  means_->http->send(std::move(request), std::make_shared<Receipt>(shared_from_this()), stop_.get_token());
}

/// On the I/O thread. 0: no answer came.
void PushQueue::on_status(int status) {
  const bool is_taken = status >= 200 && status < 300;
  bool is_end = false;
  {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    if (is_taken) {
      waiting_.pop_front();
      failures_ = 0;
      is_end = has_last_ && waiting_.empty();
    } else {
      is_end = ++failures_ >= means_->rules.attempts;
    }
  }
  if (is_end) return end(is_taken ? End::kDelivered : End::kGivenUp);
  is_taken ? send_next() : pause();
}

void PushQueue::pause() {
  const PushRules& rules = means_->rules;
  std::chrono::milliseconds length = rules.first_pause;
  {
    const std::lock_guard lock(mutex_);
    length *= std::int64_t{1} << std::min<std::size_t>(failures_ - 1, kMostDoublings);
  }
  means_->executor->after(std::min(length, rules.longest_pause), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->send_next();
  });
}

void PushQueue::end(End how) {
  std::move_only_function<void(End)> ended;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    waiting_.clear();
    ended = std::move(ended_);
    ended_ = nullptr;
  }
  if (ended) ended(how);
}

}  // namespace praxis::server

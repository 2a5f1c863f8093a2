#include "process/supervisor_protocol.hpp"

#include <cstring>
#include <type_traits>

namespace praxis::supervisor {

namespace {

static_assert(std::is_trivially_copyable_v<Settings> && std::is_trivially_copyable_v<Message>);

void put(std::string& out, std::uint32_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& out, bool flag) { put(out, flag ? 1U : 0U); }
void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}
void put(std::string& out, const Loan& loan) {
  put(out, loan.source);
  put(out, loan.place);
  put(out, loan.plain);
}
void put(std::string& out, const Cover& cover) {
  put(out, cover.loan);
  put(out, cover.path);
  put(out, cover.read_only);
}
void put(std::string& out, const Guard& guard) {
  put(out, guard.path);
  put(out, guard.folder);
}
void put(std::string& out, std::uint64_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& out, const Mount& mount) {
  put(out, mount.path);
  put(out, mount.device);
  put(out, mount.inode);
  put(out, mount.read_only);
}
template <class T>
void put(std::string& out, const std::vector<T>& list) {
  put(out, static_cast<std::uint32_t>(list.size()));
  for (const T& item : list) put(out, item);
}

/// Each `take` returns false if too few bytes are left.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool take(void* to, std::size_t size) {
    if (bytes_.size() < size) return false;
    std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool take(std::uint32_t& number) { return take(&number, sizeof number); }
  bool take(std::uint64_t& number) { return take(&number, sizeof number); }
  bool take(bool& flag) {
    std::uint32_t number = 0;
    if (!take(number)) return false;
    flag = number != 0;
    return true;
  }
  bool take(std::string& text) {
    std::uint32_t size = 0;
    if (!take(size) || bytes_.size() < size) return false;
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return true;
  }
  bool take(Loan& loan) { return take(loan.source) && take(loan.place) && take(loan.plain); }
  bool take(Cover& cover) { return take(cover.loan) && take(cover.path) && take(cover.read_only); }
  bool take(Guard& guard) { return take(guard.path) && take(guard.folder); }
  bool take(Mount& mount) {
    return take(mount.path) && take(mount.device) && take(mount.inode) && take(mount.read_only);
  }
  template <class T>
  bool take(std::vector<T>& list) {
    std::uint32_t count = 0;
    if (!take(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!take(list.emplace_back())) return false;
    }
    return true;
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string encode(const Request& request) {
  std::string out(reinterpret_cast<const char*>(&request.settings), sizeof request.settings);
  put(out, request.folder);
  put(out, request.arguments);
  put(out, request.environment);
  put(out, request.writable);
  put(out, request.loans);
  put(out, request.covers);
  put(out, request.guards);
  put(out, request.mounts);
  put(out, request.proxy);
  return out;
}

std::optional<Request> decode(std::string_view bytes) {
  Request request;
  Reader reader(bytes);
  const bool whole = reader.take(&request.settings, sizeof request.settings) && reader.take(request.folder) &&
                     reader.take(request.arguments) && reader.take(request.environment) &&
                     reader.take(request.writable) && reader.take(request.loans) &&
                     reader.take(request.covers) && reader.take(request.guards) &&
                     reader.take(request.mounts) && reader.take(request.proxy) && reader.done();
  if (!whole) return std::nullopt;
  return request;
}

}  // namespace praxis::supervisor

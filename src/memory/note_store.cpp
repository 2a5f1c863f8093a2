// What stores and clients do that have no better way of their own.
#include "memory/note_store.hpp"

#include <ranges>
#include <utility>

#include "praxis/memory/database_client.hpp"

namespace praxis {
namespace {

/// The key of one of several changes that are made one by one.
std::string part_of(const std::string& once, std::size_t index) {
  return once.empty() ? once : once + '#' + std::to_string(index);
}

}  // namespace

Status NoteStore::visit_oldest(NoteSpace space, const std::string& collection, const Visit& visit) {
  std::vector<Note> notes;
  auto visited = visit_newest(space, collection, [&](Note note) {
    notes.push_back(std::move(note));
    return true;
  });
  if (!visited) return visited;
  for (Note& note : notes | std::views::reverse) {
    if (!visit(std::move(note))) break;
  }
  return {};
}

Status NoteStore::change(NoteSpace space, const std::string& collection, const std::vector<Note>& writes,
                         const std::vector<std::string>& removals, const std::string& once) {
  std::size_t index = 0;
  for (const std::string& key : removals) {
    if (auto gone = remove(space, collection, key, part_of(once, index++)); !gone)
      return fail(std::move(gone.error()));
  }
  for (const Note& note : writes) {
    if (auto done = put(space, note, part_of(once, index++)); !done) return fail(std::move(done.error()));
  }
  return {};
}

Result<std::vector<PlainNote>> NoteStore::without_vector(const std::string&, std::size_t) {
  return std::vector<PlainNote>{};
}

Result<std::optional<std::vector<float>>> NoteStore::known_vector(const std::string&, const std::string&) {
  return std::nullopt;
}

Status NoteStore::add_vectors(const std::string&, const std::vector<NoteVector>&) { return {}; }

Status DatabaseClient::change(const std::string& collection, NoteChanges changes,
                              const ChangeOptions& options) {
  std::size_t index = 0;
  for (const std::string& key : changes.removals) {
    auto gone = remove(collection, key, {part_of(options.once, index++)});
    if (!gone) return fail(std::move(gone.error()));
  }
  for (auto& [key, value] : changes.writes) {
    auto done = write(collection, key, std::move(value), {part_of(options.once, index++)});
    if (!done) return done;
  }
  return {};
}

}  // namespace praxis

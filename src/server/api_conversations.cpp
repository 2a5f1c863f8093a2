// OpenAI's Conversations: what belongs to one, and what its client changes in it.
#include <algorithm>
#include <utility>

#include "server/conversation_view.hpp"
#include "server/handlers.hpp"

namespace praxis::server {
namespace {

Result<StoredConversation> conversation_named(Service& service, const Call& call) {
  return service.conversations->find(call.name("conversation"), call.principal);
}

/// The item of the path. Error `kNotFound`.
Result<Json> item_named(const ConversationView& view, const Call& call) {
  const std::string& id = call.name("item");
  const auto found =
      std::ranges::find_if(view.items, [&](const Json& item) { return json_text(item, "id") == id; });
  if (found == view.items.end()) return fail(not_found("item", id));
  return *found;
}

/// Data of items that never occur here is not missing when it is asked for.
Status check_included(const Call& call) {
  for (const auto& [key, name] : call.query) {
    if (key.starts_with("include") && name == "message.output_text.logprobs")
      return fail(field_error("include", "cannot have message.output_text.logprobs here"));
  }
  return {};
}

}  // namespace

Result<HttpAnswer> create_conversation(Service& service, const Call& call) {
  auto body = call.object({"items", "metadata"});
  if (!body) return fail(body.error());
  const Json all(*std::move(body));
  auto metadata = read_metadata(json_at(all, "metadata"));
  if (!metadata) return fail(metadata.error());
  const Json& given = json_at(all, "items");
  auto items = given.is_null() ? Result<JsonArray>() : read_new_items(given, service.runtime->environment());
  if (!items) return fail(items.error());
  const auto made = service.conversations->create(*std::move(metadata), *std::move(items), call.principal);
  if (!made) return fail(made.error());
  return json_answer(conversation_json(*made));
}

Result<HttpAnswer> show_conversation(Service& service, const Call& call) {
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  return json_answer(conversation_json(*found));
}

Result<HttpAnswer> update_conversation(Service& service, const Call& call) {
  const auto body = call.object({"metadata"});
  if (!body) return fail(body.error());
  if (!body->contains("metadata")) return fail(field_error("metadata", "is missing"));
  auto metadata = read_metadata(body->at("metadata"));
  if (!metadata) return fail(metadata.error());
  auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  if (auto noted = service.conversations->note(found->id, MetadataSet{*metadata}, call.principal); !noted)
    return fail(noted.error());
  found->metadata = *std::move(metadata);
  return json_answer(conversation_json(*found));
}

Result<HttpAnswer> delete_conversation(Service& service, const Call& call) {
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  if (auto gone = service.runs->remove(found->id.run); !gone) return fail(gone.error());
  return json_answer(
      JsonObject{{"id", found->id.text()}, {"object", "conversation.deleted"}, {"deleted", true}});
}

Result<HttpAnswer> add_conversation_items(Service& service, const Call& call) {
  if (auto includes = check_included(call); !includes) return fail(includes.error());
  const auto body = call.object({"items"});
  if (!body) return fail(body.error());
  auto items = read_new_items(json_at(Json(*body), "items"), service.runtime->environment());
  if (!items) return fail(items.error());
  if (items->empty()) return fail(field_error("items", "is empty"));
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  if (auto noted = service.conversations->note(found->id, ItemsAdded{*items}, call.principal); !noted)
    return fail(noted.error());
  return item_list(*std::move(items), false);
}

Result<HttpAnswer> list_conversation_items(Service& service, const Call& call) {
  if (auto includes = check_included(call); !includes) return fail(includes.error());
  const auto page = item_page_of(call);
  if (!page) return fail(page.error());
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  auto view = view_of(service, *found, ViewFor::kClient);
  if (!view) return fail(view.error());
  return page_of_items(*page, std::move(view->items));
}

Result<HttpAnswer> show_conversation_item(Service& service, const Call& call) {
  if (auto includes = check_included(call); !includes) return fail(includes.error());
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  const auto view = view_of(service, *found, ViewFor::kClient);
  if (!view) return fail(view.error());
  const auto item = item_named(*view, call);
  if (!item) return fail(item.error());
  return json_answer(*item);
}

Result<HttpAnswer> remove_conversation_item(Service& service, const Call& call) {
  const auto found = conversation_named(service, call);
  if (!found) return fail(found.error());
  const auto view = view_of(service, *found, ViewFor::kClient);
  if (!view) return fail(view.error());
  if (const auto item = item_named(*view, call); !item) return fail(item.error());
  if (auto noted = service.conversations->note(found->id, ItemRemoved{call.name("item")}, call.principal);
      !noted)
    return fail(noted.error());
  return json_answer(conversation_json(*found));
}

}  // namespace praxis::server

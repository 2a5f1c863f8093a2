#include <algorithm>
#include <unordered_map>

#include "json/schema_keywords.hpp"
#include "json/schema_node.hpp"
#include "json/uri_reference.hpp"
#include "praxis/json/schema.hpp"

namespace praxis {

namespace {

std::string unescape_pointer(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    out += !escape ? token[i] : token[++i] == '1' ? '/' : '~';
  }
  return out;
}

// Returns the value at one token of a JSON pointer; null if it does not exist.
const Json* step_into(const Json& json, const std::string& token) {
  if (const JsonObject* object = json.if_object()) return object->if_contains(token);
  const bool index =
      !token.empty() && token.size() < 10 && token.find_first_not_of("0123456789") == token.npos;
  const JsonArray* array = json.if_array();
  return array && index ? array->if_contains(std::stoul(token)) : nullptr;
}

// Converts schema values into nodes, then resolves the collected references, which may add more nodes.
class SchemaCompiler {
 public:
  explicit SchemaCompiler(const JsonSchema::Documents& documents) : documents_(documents) {}

  Result<std::shared_ptr<const CompiledSchema>> compile(const Json& schema) {
    compiled_->root = add_document("", schema);
    while (!references_.empty() && !error_) {
      const Reference reference = std::move(references_.back());
      references_.pop_back();
      resolve(reference);
    }
    if (error_) return std::unexpected(*std::move(error_));
    return compiled_;
  }

 private:
  struct Reference {
    SchemaNode* from;
    bool dynamic;
    std::string uri;
    std::string where;
  };

  // One schema object during its conversion into a node.
  struct Part {
    SchemaNode& node;
    SchemaKeywords keywords;
    SchemaResource* resource;
    const std::string& where;  // JSON pointer from the document's root, for messages
  };

  const SchemaNode* add_document(const std::string& uri, const Json& schema) {
    roots_[uri] = &schema;
    return add(schema, add_resource(uri, true), "");
  }

  SchemaResource* add_resource(const std::string& uri, bool asserts) {
    SchemaResource& resource = compiled_->resources.emplace_back();
    resource.uri = uri;
    resource.asserts = asserts;
    return &resource;
  }

  const SchemaNode* add(const Json& schema, SchemaResource* resource, const std::string& where) {
    if (const auto known = nodes_.find(&schema); known != nodes_.end()) return known->second;
    SchemaNode& node = compiled_->nodes.emplace_back();
    nodes_.emplace(&schema, &node);
    node.resource = resource;
    if (const bool* flag = schema.if_bool()) {
      node.never = !*flag;
    } else if (const JsonObject* object = schema.if_object()) {
      Part part{node, {*object, where, error_}, resource, where};
      add_identity(part, schema);
      add_references(part);
      add_applicators(part);
      if (part.resource->asserts) add_assertions(part);
    } else {
      keep_schema_error(error_, where, "expected a schema: an object, true or false");
    }
    return &node;
  }

  // Names and references.

  // `$id` opens a resource that the rest of this schema belongs to; the anchors name the node within it.
  void add_identity(Part& part, const Json& schema) {
    if (const auto id = part.keywords.text("$id")) {
      std::string uri = resolve_uri(part.resource->uri, *id);
      if (uri.ends_with('#')) uri.pop_back();
      roots_[uri] = &schema;
      part.node.resource = part.resource = add_resource(uri, part.resource->asserts);
    }
    if (const auto dialect = part.keywords.text("$schema")) part.resource->asserts = asserts(*dialect);
    if (const auto anchor = part.keywords.text("$anchor")) part.resource->anchors[*anchor] = &part.node;
    if (const auto anchor = part.keywords.text("$dynamicAnchor")) {
      part.resource->anchors[*anchor] = part.resource->dynamic_anchors[*anchor] = &part.node;
    }
  }

  // Whether a dialect has the validation vocabulary. An undescribed dialect counts as 2020-12.
  bool asserts(const std::string& dialect) const {
    const auto description = documents_.find(dialect);
    if (description == documents_.end()) return true;
    const JsonObject* vocabulary = json_at(description->second, "$vocabulary").if_object();
    return !vocabulary || vocabulary->contains("https://json-schema.org/draft/2020-12/vocab/validation");
  }

  void add_references(Part& part) {
    for (const bool dynamic : {false, true}) {
      const char* const key = dynamic ? "$dynamicRef" : "$ref";
      const auto reference = part.keywords.text(key);
      if (!reference) continue;
      references_.push_back(
          {&part.node, dynamic, resolve_uri(part.resource->uri, *reference), part.where + "/" + key});
    }
  }

  void resolve(const Reference& reference) {
    const std::size_t hash = std::min(reference.uri.find('#'), reference.uri.size());
    const std::string document = reference.uri.substr(0, hash);
    const std::string fragment =
        percent_decode(std::string_view(reference.uri).substr(hash).substr(hash < reference.uri.size()));
    const SchemaNode* const target = find(document, fragment, reference.where);
    if (!target) {
      keep_schema_error(
          error_, reference.where,
          "\"" + reference.uri + "\" is neither in the schema nor in the documents given with it");
    } else if (!reference.dynamic) {
      reference.from->ref = target;
    } else {
      reference.from->dynamic_ref = target;
      if (target->resource->dynamic_anchors.contains(fragment)) reference.from->dynamic_anchor = fragment;
    }
  }

  const SchemaNode* find(const std::string& uri, const std::string& fragment, const std::string& where) {
    if (!roots_.contains(uri)) {
      const auto document = documents_.find(uri);
      if (document == documents_.end()) return nullptr;
      add_document(uri, document->second);
    }
    const Json& root = *roots_.at(uri);
    if (fragment.empty() || fragment[0] == '/') return find_pointer(root, fragment, where);
    const auto& anchors = nodes_.at(&root)->resource->anchors;
    const auto anchor = anchors.find(fragment);
    return anchor == anchors.end() ? nullptr : anchor->second;
  }

  // Returns the node at a JSON pointer; creates it if the pointer leads to a place where no keyword expects a
  // schema.
  const SchemaNode* find_pointer(const Json& root, std::string_view pointer, const std::string& where) {
    const Json* json = &root;
    SchemaResource* resource = nullptr;  // of the innermost schema on the way
    for (;;) {
      if (const auto known = nodes_.find(json); known != nodes_.end()) resource = known->second->resource;
      if (pointer.empty()) return add(*json, resource, where);
      const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
      json = step_into(*json, unescape_pointer(pointer.substr(1, end - 1)));
      if (!json) return nullptr;
      pointer.remove_prefix(end);
    }
  }

  // Schemas nested in a schema.

  const SchemaNode* child(const Part& part, const std::string& key) {
    const Json* schema = part.keywords.find(key);
    return schema ? add(*schema, part.resource, part.where + "/" + key) : nullptr;
  }

  NodeList children(const Part& part, const std::string& key) {
    NodeList nodes;
    const JsonArray* schemas = part.keywords.array(key);
    if (!schemas) return nodes;
    if (schemas->empty()) part.keywords.reject(key, "expected at least one schema");
    for (const Json& schema : *schemas) {
      nodes.push_back(
          add(schema, part.resource, part.where + "/" + key + "/" + std::to_string(nodes.size())));
    }
    return nodes;
  }

  NamedNodes named(const Part& part, const std::string& key) {
    NamedNodes nodes;
    const JsonObject* schemas = part.keywords.object(key);
    if (!schemas) return nodes;
    for (const auto& field : *schemas) {
      const std::string name(field.key());
      nodes.emplace_back(name, add(field.value(), part.resource, part.where + "/" + key + "/" + name));
    }
    return nodes;
  }

  void add_applicators(Part& part) {
    SchemaNode& node = part.node;
    named(part, "$defs");  // reached by reference only
    node.all_of = children(part, "allOf");
    node.any_of = children(part, "anyOf");
    node.one_of = children(part, "oneOf");
    node.not_ = child(part, "not");
    node.if_ = child(part, "if");
    node.then_ = child(part, "then");
    node.else_ = child(part, "else");
    node.unevaluated_items = child(part, "unevaluatedItems");
    node.unevaluated_properties = child(part, "unevaluatedProperties");
    if (part.keywords.has_any({"prefixItems", "items", "contains"})) {
      ArrayRules& rules = node.array.emplace();
      rules.prefix = children(part, "prefixItems");
      rules.items = child(part, "items");
      rules.contains = child(part, "contains");
    }
    if (part.keywords.has_any({"properties", "patternProperties", "additionalProperties", "propertyNames",
                               "dependentSchemas"})) {
      ObjectRules& rules = node.object.emplace();
      rules.properties = named(part, "properties");
      for (const auto& [source, schema] : named(part, "patternProperties")) {
        rules.pattern_properties.emplace_back(part.keywords.pattern("patternProperties", source), schema);
      }
      rules.additional = child(part, "additionalProperties");
      rules.names = child(part, "propertyNames");
      rules.dependent_schemas = named(part, "dependentSchemas");
    }
  }

  // Assertions about the instance itself.

  void add_assertions(Part& part) {
    SchemaNode& node = part.node;
    const SchemaKeywords& keywords = part.keywords;
    node.types = keywords.types();
    if (const Json* value = keywords.find("const")) node.allowed.push_back({{to_canonical_json(*value)}});
    if (const JsonArray* values = keywords.array("enum")) {
      AllowedValues& allowed = node.allowed.emplace_back();
      for (const Json& value : *values) allowed.texts.push_back(to_canonical_json(value));
    }
    if (keywords.has_any({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})) {
      node.number = NumberRules{keywords.number("minimum"), keywords.number("maximum"),
                                keywords.number("exclusiveMinimum"), keywords.number("exclusiveMaximum"),
                                keywords.number("multipleOf")};
      const auto& divisor = node.number->multiple_of;
      if (divisor && divisor->to_number<double>() <= 0)
        keywords.reject("multipleOf", "must be greater than 0");
    }
    if (keywords.has_any({"minLength", "maxLength", "pattern"})) {
      StringRules& rules = node.string.emplace();
      rules.length = keywords.range("minLength", "maxLength");
      if (const auto source = keywords.text("pattern")) rules.pattern = keywords.pattern("pattern", *source);
    }
    if (node.array || keywords.has_any({"minItems", "maxItems", "uniqueItems"})) {
      ArrayRules& rules = node.array ? *node.array : node.array.emplace();
      rules.size = keywords.range("minItems", "maxItems");
      rules.unique = keywords.flag("uniqueItems");
      rules.contains_count = keywords.range("minContains", "maxContains", 1);
    }
    if (node.object ||
        keywords.has_any({"minProperties", "maxProperties", "required", "dependentRequired"})) {
      add_object_assertions(part, node.object ? *node.object : node.object.emplace());
    }
  }

  void add_object_assertions(Part& part, ObjectRules& rules) {
    rules.size = part.keywords.range("minProperties", "maxProperties");
    rules.required = part.keywords.texts("required");
    const JsonObject* dependent = part.keywords.object("dependentRequired");
    if (!dependent) return;
    const std::string where = part.where + "/dependentRequired";
    const SchemaKeywords lists(*dependent, where, error_);
    for (const auto& field : *dependent) {
      rules.dependent_required.emplace_back(field.key(), lists.texts(field.key()));
    }
  }

  const JsonSchema::Documents& documents_;
  const std::shared_ptr<CompiledSchema> compiled_ = std::make_shared<CompiledSchema>();
  std::unordered_map<const Json*, SchemaNode*> nodes_;
  std::map<std::string, const Json*> roots_;  // of the resources, by URI
  std::vector<Reference> references_;         // not yet resolved
  std::optional<Error> error_;                // the first error found
};

}  // namespace

Result<JsonSchema> JsonSchema::compile(const Json& schema, const Documents& documents) {
  auto compiled = SchemaCompiler(documents).compile(schema);
  if (!compiled) return std::unexpected(std::move(compiled.error()));
  return JsonSchema(*std::move(compiled));
}

}  // namespace praxis

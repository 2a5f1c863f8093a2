// The examples for Compose and Kubernetes: they are YAML, what they name is there, and they tell no secret.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "command_line.hpp"

namespace praxis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// The scalars of a document by their path: `spec.replicas`, `spec.args[0]`.
using Scalars = std::map<std::string, std::string>;

void collect(yaml_document_t& document, int node_number, const std::string& path, Scalars& scalars) {
  const yaml_node_t* node = yaml_document_get_node(&document, node_number);
  if (node->type == YAML_SCALAR_NODE) {
    scalars[path] = reinterpret_cast<const char*>(node->data.scalar.value);
  } else if (node->type == YAML_SEQUENCE_NODE) {
    const auto& items = node->data.sequence.items;
    for (const yaml_node_item_t* item = items.start; item != items.top; ++item)
      collect(document, *item, path + "[" + std::to_string(item - items.start) + "]", scalars);
  } else if (node->type == YAML_MAPPING_NODE) {
    const auto& pairs = node->data.mapping.pairs;
    for (const yaml_node_pair_t* pair = pairs.start; pair != pairs.top; ++pair) {
      const yaml_node_t* key = yaml_document_get_node(&document, pair->key);
      const std::string name = reinterpret_cast<const char*>(key->data.scalar.value);
      collect(document, pair->value, path.empty() ? name : path + "." + name, scalars);
    }
  }
}

/// The documents of a file in share/container; fails if it is not YAML.
std::vector<Scalars> documents_of(const std::string& name) {
  std::ifstream in(std::filesystem::path(PRAXIS_SOURCE_DIR) / "share/container" / name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_FALSE(text.empty()) << name;
  yaml_parser_t parser;
  yaml_parser_initialize(&parser);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  std::vector<Scalars> documents;
  for (bool more = true; more;) {
    yaml_document_t document;
    if (yaml_parser_load(&parser, &document) == 0) {
      ADD_FAILURE() << name << ":" << parser.problem_mark.line + 1 << ": " << parser.problem;
      break;
    }
    more = yaml_document_get_root_node(&document) != nullptr;
    if (more) collect(document, 1, "", documents.emplace_back());
    yaml_document_delete(&document);
  }
  yaml_parser_delete(&parser);
  return documents;
}

std::vector<std::string> values_below(const Scalars& scalars, const std::string& start) {
  std::vector<std::string> values;
  for (const auto& [path, value] : scalars) {
    if (path.starts_with(start)) values.push_back(value);
  }
  return values;
}

class ContainerFiles : public CommandLine {
 protected:
  /// Checks the arguments of a server: each option exists, and no address has a password.
  void expect_arguments(const std::vector<std::string>& arguments) const {
    const std::string help = praxis({"serve", "--help"}).out;
    ASSERT_THAT(arguments, AllOf(Contains("serve"), Contains("--journal"), Contains("--token-file")));
    for (const std::string& argument : arguments) {
      const bool is_option = argument.starts_with("--");
      const bool has_password =
          argument.starts_with("postgres://") && argument.find(':', 11) != std::string::npos;
      EXPECT_TRUE(!is_option || help.find(argument) != std::string::npos) << argument;
      EXPECT_FALSE(has_password) << argument;
    }
  }
};

TEST_F(ContainerFiles, Compose_StartsServersThatExist) {
  const auto documents = documents_of("compose.yaml");
  ASSERT_EQ(documents.size(), 1U);
  const Scalars& file = documents[0];
  for (const char* server : {"services.one", "services.two"}) {
    EXPECT_EQ(file.at(std::string(server) + ".image"), "praxis");
    expect_arguments(values_below(file, std::string(server) + ".command"));
  }
  EXPECT_THAT(file.at("services.balancer.ports[0]"), HasSubstr("127.0.0.1:"));
  for (const auto& [path, value] : file) {
    if (path.find("environment.") == std::string::npos) continue;
    EXPECT_TRUE(!path.ends_with("_KEY") || value.empty()) << path;
    EXPECT_TRUE(path.find("PASSWORD") == std::string::npos || value.starts_with("/run/secrets/")) << path;
  }
  for (const char* secret : {"database-password", "pgpass", "server-token"})
    EXPECT_EQ(file.at(std::string("secrets.") + secret + ".file"), std::string("./secrets/") + secret);
}

TEST_F(ContainerFiles, Kubernetes_StartsServersThatExist) {
  const auto documents = documents_of("kubernetes.yaml");
  ASSERT_EQ(documents.size(), 2U);
  const Scalars& deployment = documents[0];
  const Scalars& service = documents[1];
  EXPECT_EQ(deployment.at("kind"), "Deployment");
  EXPECT_EQ(service.at("kind"), "Service");
  const std::string server = "spec.template.spec.containers[0]";
  expect_arguments(values_below(deployment, server + ".args"));
  EXPECT_EQ(deployment.at("spec.template.metadata.labels.app"), service.at("spec.selector.app"));
  EXPECT_EQ(deployment.at(server + ".ports[0].name"), service.at("spec.ports[0].targetPort"));
  EXPECT_EQ(deployment.at(server + ".readinessProbe.httpGet.path"), "/readyz");
  EXPECT_EQ(deployment.at(server + ".livenessProbe.httpGet.path"), "/healthz");
  EXPECT_THAT(values_below(deployment, server + ".env[0]"), Not(Contains(HasSubstr("PASSWORD"))));
}

}  // namespace
}  // namespace praxis::testing

# What the binary is made of: for `praxis --version`, and as sbom.spdx.json, which is installed with it.
include(cmake/source_time.cmake)
set(PRAXIS_REVISION "" CACHE STRING "Commit of the sources, for `praxis --version`")

# praxis_part(NAME VERSION LICENCE RELATION KIND): a package of kind `deb` or `npm`. RELATION is CONTAINS for what is within
# the binary, DYNAMIC_LINK for what it loads at its start.
set(praxis_parts "")
set(praxis_sbom_packages "")
set(praxis_sbom_relations "")
function(praxis_part name version licence relation kind)
  if(NOT version)
    message(FATAL_ERROR "The version of ${name} is not known.")
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9.]" "-" id ${name})
  set(reference "")
  if(kind STREQUAL npm)
    string(REPLACE "@" "%40" path ${name})
    string(JOIN "" reference
      [[, "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:npm/]]
      "${path}@${version}" [["}] ]])
  endif()
  set(praxis_parts "${praxis_parts}  ${name} ${version} (${licence})\n" PARENT_SCOPE)
  set(praxis_sbom_packages "${praxis_sbom_packages},
    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"licenseDeclared\": \"${licence}\",
     \"licenseConcluded\": \"NOASSERTION\", \"copyrightText\": \"NOASSERTION\", \"downloadLocation\": \"NOASSERTION\",
     \"filesAnalyzed\": false${reference}}" PARENT_SCOPE)
  set(praxis_sbom_relations "${praxis_sbom_relations},
    {\"spdxElementId\": \"SPDXRef-praxis\", \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": \"SPDXRef-${id}\"}"
      PARENT_SCOPE)
endfunction()

# praxis_npm_parts(LOCK): what a bundle has of the packages of an npm lock file.
macro(praxis_npm_parts lock)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lock})
  file(READ ${lock} locked)
  string(JSON count LENGTH "${locked}" packages)
  math(EXPR last "${count} - 1")
  foreach(index RANGE 1 ${last})  # the first is the bundle itself
    string(JSON path MEMBER "${locked}" packages ${index})
    string(JSON is_tool ERROR_VARIABLE ignored GET "${locked}" packages ${path} dev)
    string(JSON is_choice ERROR_VARIABLE ignored GET "${locked}" packages ${path} optional)
    if(NOT is_tool STREQUAL ON AND NOT is_choice STREQUAL ON)
      string(JSON version GET "${locked}" packages ${path} version)
      string(JSON licence GET "${locked}" packages ${path} license)
      string(REGEX REPLACE "^.*node_modules/" "" name ${path})
      praxis_part(${name} ${version} ${licence} CONTAINS npm)
    endif()
  endforeach()
endmacro()

pkg_check_modules(part_libseccomp REQUIRED QUIET libseccomp)
# The files of these two for pkg-config do not have their versions.
find_file(PRAXIS_DUKTAPE_HEADER duktape.h REQUIRED)
file(STRINGS ${PRAXIS_DUKTAPE_HEADER} duktape_version REGEX "^#define DUK_VERSION +[0-9]+L")
string(REGEX REPLACE "^.* ([0-9]+)([0-9][0-9])([0-9][0-9])L.*$" "\\1.\\2.\\3" duktape_version "${duktape_version}")
string(REGEX REPLACE "[.]0([0-9])" ".\\1" duktape_version "${duktape_version}")
execute_process(COMMAND dpkg-query --show --showformat=\${Version} libre2-dev OUTPUT_VARIABLE re2_version ERROR_QUIET)
if(NOT re2_version)
  set(re2_version unknown)
endif()
praxis_part(boost "${Boost_VERSION_STRING}" BSL-1.0 CONTAINS deb)
praxis_part(cli11 "${CLI11_VERSION}" BSD-3-Clause CONTAINS deb)
praxis_part(libseccomp "${part_libseccomp_VERSION}" LGPL-2.1-only CONTAINS deb)
praxis_part(tomlplusplus "${tomlplusplus_VERSION}" MIT CONTAINS deb)
praxis_part(duktape "${duktape_version}" MIT DYNAMIC_LINK deb)
praxis_part(fmt "${fmt_VERSION}" MIT DYNAMIC_LINK deb)
praxis_part(libsodium "${libsodium_VERSION}" ISC DYNAMIC_LINK deb)
praxis_part(libyaml "${yaml-0.1_VERSION}" MIT DYNAMIC_LINK deb)
praxis_part(md4c "${md4c_VERSION}" MIT DYNAMIC_LINK deb)
praxis_part(mimalloc "${mimalloc_VERSION}" MIT DYNAMIC_LINK deb)
praxis_part(openssl "${OPENSSL_VERSION}" Apache-2.0 DYNAMIC_LINK deb)
praxis_part(re2 "${re2_version}" BSD-3-Clause DYNAMIC_LINK deb)
praxis_part(sqlite "${SQLite3_VERSION}" blessing DYNAMIC_LINK deb)
praxis_part(zlib "${ZLIB_VERSION_STRING}" Zlib DYNAMIC_LINK deb)
if(EXISTS ${PRAXIS_PAGE}/page.pack)
  praxis_npm_parts(${PROJECT_SOURCE_DIR}/web/package-lock.json)
endif()
if(EXISTS ${PRAXIS_TEMPLATES}/engines.js)
  praxis_npm_parts(${PROJECT_SOURCE_DIR}/src/prompts/engines/package-lock.json)
endif()

string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
set(praxis_built_from "praxis ${PROJECT_VERSION}\n")
if(PRAXIS_REVISION)
  string(APPEND praxis_built_from "commit ${PRAXIS_REVISION}\n")
endif()
string(APPEND praxis_built_from "built by ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} for ${CMAKE_SYSTEM_NAME} "
  "${CMAKE_SYSTEM_PROCESSOR}, ${flags}")
if(PRAXIS_PROFILE)
  string(APPEND praxis_built_from ", with a profile")
endif()
string(APPEND praxis_built_from "\nfrom\n${praxis_parts}")
string(STRIP "${praxis_built_from}" praxis_built_from)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/built_from.cpp @ONLY CONTENT [[// Generated by cmake/parts.cmake.
#include "cli/built_from.hpp"

namespace praxis::cli {

std::string_view built_from() { return R"built(@praxis_built_from@)built"; }

}  // namespace praxis::cli
]])
target_sources(praxis_commands PRIVATE ${PROJECT_BINARY_DIR}/built_from.cpp)
set_source_files_properties(${PROJECT_BINARY_DIR}/built_from.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

execute_process(COMMAND date --utc --date=@${PRAXIS_TIME} +%Y-%m-%dT%H:%M:%SZ OUTPUT_VARIABLE praxis_created
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(SHA256 praxis_sbom_digest "${praxis_built_from}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/sbom.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "praxis-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/praxis-@PROJECT_VERSION@-@praxis_sbom_digest@",
  "creationInfo": {"created": "@praxis_created@", "creators": ["Tool: CMake-@CMAKE_VERSION@"]},
  "packages": [
    {"SPDXID": "SPDXRef-praxis", "name": "praxis", "versionInfo": "@PROJECT_VERSION@", "licenseDeclared": "Apache-2.0",
     "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION",
     "filesAnalyzed": false, "primaryPackagePurpose": "APPLICATION"}@praxis_sbom_packages@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-praxis"}@praxis_sbom_relations@
  ]
}
]])

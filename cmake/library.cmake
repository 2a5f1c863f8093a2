# How the library is compiled and linked, and its targets: one for each component, `praxis` for all of them. The
# programs and the tests of this build link the static library; a shared library is made of the same objects.
target_include_directories(praxis_library PUBLIC
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:include>
  PRIVATE src)
target_compile_features(praxis_library PUBLIC cxx_std_23)
# An installed archive does not name its dependencies: the components do (praxisConfig.cmake).
target_link_libraries(praxis_library PRIVATE $<BUILD_INTERFACE:praxis_options> $<BUILD_INTERFACE:praxis_asio>)
function(praxis_link_dependencies target)
  foreach(component IN LISTS praxis_components)
    foreach(link IN LISTS praxis_links_${component})
      if(TARGET ${link})
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${link}>)
      endif()
    endforeach()
  endforeach()
endfunction()
praxis_link_dependencies(praxis_library)

# Each public header declares its contents visible. Boost.JSON, which is compiled into the library, has a macro
# for that. Private types may then be members of visible ones, which g++ warns about.
set_target_properties(praxis_library PROPERTIES OUTPUT_NAME praxis CXX_VISIBILITY_PRESET hidden)
target_compile_definitions(praxis_library PRIVATE [[BOOST_JSON_DECL=__attribute__((visibility("default")))]]
                                                  [[BOOST_JSON_CLASS_DECL=__attribute__((visibility("default")))]])
target_compile_options(praxis_library PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-attributes>)
praxis_precompile(praxis_library)

add_library(praxis INTERFACE)
add_library(praxis::praxis ALIAS praxis)
foreach(component IN LISTS praxis_components)
  add_library(praxis_${component} INTERFACE)
  add_library(praxis::${component} ALIAS praxis_${component})
  target_link_libraries(praxis_${component} INTERFACE praxis_library)
  praxis_link_component(praxis_${component} ${component} build)
  target_link_libraries(praxis INTERFACE praxis_${component})
endforeach()

# Until 1.0 a minor version may change the interface.
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(PRAXIS_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
  set(PRAXIS_SOVERSION ${PROJECT_VERSION_MAJOR})
endif()
add_library(praxis_shared SHARED $<TARGET_OBJECTS:praxis_library>)
set_target_properties(praxis_shared PROPERTIES OUTPUT_NAME praxis LINKER_LANGUAGE CXX
                                               VERSION ${PROJECT_VERSION} SOVERSION ${PRAXIS_SOVERSION})
target_include_directories(praxis_shared INTERFACE $<INSTALL_INTERFACE:include>)
target_compile_features(praxis_shared INTERFACE cxx_std_23)
praxis_link_dependencies(praxis_shared)
target_link_options(praxis_shared PRIVATE LINKER:--no-undefined)
if(NOT BUILD_SHARED_LIBS)
  set_target_properties(praxis_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

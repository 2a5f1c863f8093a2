# All dependencies of Praxis, from Debian packages (docs/dependencies.md gives the reasons).
foreach(component IN LISTS praxis_components)
  foreach(package IN LISTS praxis_packages_${component})
    separate_arguments(package)
    find_package(${package} REQUIRED)
  endforeach()
  foreach(module IN LISTS praxis_modules_${component})
    pkg_check_modules(${module} REQUIRED IMPORTED_TARGET ${module})
  endforeach()
endforeach()
find_path(PRAXIS_HIREDIS_INCLUDE hiredis/hiredis.h REQUIRED)  # its library is loaded when it is needed
if("tools" IN_LIST praxis_components)
  find_library(SECCOMP_STATIC libseccomp.a REQUIRED)
endif()
if(PROJECT_IS_TOP_LEVEL AND PRAXIS_COMPLETE)
  find_package(mimalloc 2.0 REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)
  pkg_check_modules(md4c REQUIRED IMPORTED_TARGET md4c)
endif()

# Boost is used as headers: the parts that must be compiled are compiled into the library (beast_impl.cpp,
# boost_json.cpp). This target only sets how Beast, and the parts of Asio that it includes, are compiled.
add_library(praxis_asio INTERFACE)
target_compile_definitions(praxis_asio INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
                                                 BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)

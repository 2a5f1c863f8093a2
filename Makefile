# The entry points. All output goes to build/<preset>; CMakePresets.json says what each preset is for.
.DEFAULT_GOAL := help
.NOTPARALLEL:
SHELL := /bin/bash
.PHONY: help run test check bench fuzz sdk lint tidy format faults clients page page-check scenarios scenario-breaks siege siege-mutants breaks trained install package package-check clean setup setup-test setup-check

JOBS ?= $(shell nproc)
# Tests wait for processes and timers: one more than there are cores keeps all of them busy.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FAULT_SECONDS ?= 60
SIEGE_SECONDS ?= 300
SEED ?= 1

PROFILE = $(CURDIR)/build/training/profile
# For `praxis --version`; a copy without git has none.
REVISION = -DPRAXIS_REVISION=$(shell git describe --always --dirty --abbrev=12 2>/dev/null)

# Where Debian's packages have libraries and modules, other than what `make install` copies.
PACKAGE_FOLDERS = -DCMAKE_INSTALL_LIBDIR=lib/$(shell $(CXX) -print-multiarch) -DPRAXIS_PYTHON_DIR=lib/python3/dist-packages
USUAL_FOLDERS = -UCMAKE_INSTALL_LIBDIR -UPRAXIS_PYTHON_DIR

# Some tests only read this folder, independent of how their program was built: running them once is enough.
WITHOUT_FOLDER_TESTS = --exclude-regex '^(Layers|Docs)[.]'

# Programs with sanitizers are killed fewer times: the faults kill 1,500 times without sanitizers.
FEWER_KILLS = PRAXIS_CRASH_ROUNDS=2

# $(call build,preset,targets,settings) and $(call ctest,preset,log,arguments); targets, settings and
# arguments are optional.
build = cmake --preset $(1) $(3) >/dev/null && cmake --build --preset $(1) --parallel $(JOBS) $(if $(2),--target $(2))
ctest = ctest --preset $(1) --parallel $(TEST_JOBS) --output-log build/$(1)/$(2).log $(3) || \
	{ scripts/show-failures build/$(1)/$(2).log; exit 1; }
sources = find include src tests bench fuzz examples -name '*.[ch]pp'

# Where the test of the JSON Schema validator finds the public test suite.
export PRAXIS_SCHEMA_SUITE = $(CURDIR)/build/schema-suite
# Recorded cases next to the checkout, if present; tests/provider_cases are always read.
export PRAXIS_PROVIDER_CASES ?= $(wildcard $(CURDIR)/../shared/providers)
# Sanitizers print names of functions and line numbers only with this program.
export ASAN_SYMBOLIZER_PATH := $(shell command -v llvm-symbolizer-19 || command -v llvm-symbolizer)
export TSAN_SYMBOLIZER_PATH = $(ASAN_SYMBOLIZER_PATH)

help: ## print this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

run: setup ## build the binary and run the example in examples/release-notes
	$(call build,run,praxis_cli)
	examples/release-notes/run

test: setup-test build/schema-suite/tests ## build everything and run all tests
	scripts/build-templates --or-skip
	$(call build,test)
	$(call ctest,test,all)

check: lint ## run lint, then all tests under clang with ASan + UBSan and with TSan, clients, the page, the packages, faults and the siege
	$(call build,asan-ubsan)
	$(FEWER_KILLS) $(call ctest,asan-ubsan,all,$(WITHOUT_FOLDER_TESTS))
	$(call build,tsan)
	$(FEWER_KILLS) $(call ctest,tsan,all,$(WITHOUT_FOLDER_TESTS))
	$(MAKE) clients
	$(MAKE) page-check
	$(MAKE) package-check
	$(MAKE) faults
	$(MAKE) siege

lint: setup-check ## check formatting, layers and that breaks fit, and changed files with clang-tidy
	$(sources) | xargs clang-format-19 --dry-run -Werror
	$(call build,test,whole_test)
	$(call ctest,test,layers,--tests-regex ^Layer)
	python3 tests/breaks --check
	scripts/tidy

tidy: setup-check ## check all files with clang-tidy, each compiled alone
	scripts/tidy --all

format: setup-check ## format all sources with .clang-format
	$(sources) | xargs clang-format-19 -i

faults: setup ## inject faults: SEED=1, RUNS=, ONLY=name,name, FAULT_SECONDS=60, LONG=1; writes the table to build/faults.md
	$(call build,test,praxis_faults)
	build/test/praxis_faults --seed $(SEED) $(if $(RUNS),--runs $(RUNS)) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(LONG),--long,--seconds $(FAULT_SECONDS)) --table build/faults.md | tee build/faults.log; exit $${PIPESTATUS[0]}

scenarios: setup ## compare whole flows with tests/scenario_baseline.jsonl; UPDATE=1 writes it, for review
	$(call build,test,whole_test)
	$(if $(UPDATE),PRAXIS_UPDATE_SCENARIOS=1) build/test/whole_test --gtest_filter='ScenarioBaseline.*'

scenario-breaks: setup-check ## break places of the core, and see which flows of `make scenarios` notice: ONLY=name,name
	python3 tests/breaks --flows --jobs $(JOBS) $(if $(ONLY),--only $(ONLY)) --table build/scenario-breaks.md

siege: setup-check ## disturb the built binary from outside: SEED=1, RUNS=600, ONLY=name,name, SIEGE_SECONDS=300, LONG=1
	python3 tests/siege/mutate.py --check
	$(call build,test,praxis_cli)
	set -o pipefail; python3 tests/siege --binary build/test/praxis --seed $(SEED) $(if $(ONLY),--only $(ONLY)) \
	  $(if $(LONG),--long --runs $(or $(RUNS),50000),--runs $(or $(RUNS),600) --seconds $(SIEGE_SECONDS)) \
	  --table build/siege.md | tee build/siege.log

siege-mutants: setup-check ## break the binary in many ways, and besiege each until it is noticed: ONLY=name,name
	python3 tests/siege/mutate.py --jobs $(JOBS) $(if $(ONLY),--only $(ONLY)) --table build/siege-mutants.md

breaks: setup-check ## break what docs/requirements.md claims, and see whether its tests notice: SEED=1, IDS=40, ONLY=S1-07,T4
	python3 tests/breaks --seed $(SEED) --ids $(or $(IDS),40) --jobs $(JOBS) $(if $(ONLY),--only $(ONLY)) --table build/breaks.md

bench: trained ## build as `make install` does, and run the benchmarks
	$(call build,release,,-DPRAXIS_BENCH=ON -DPRAXIS_PROFILE=$(PROFILE))
	bench/run build/release

# The installed and measured build is made in two steps: record which paths the library takes, then optimise
# for them.
trained: setup
	$(call build,training,praxis_training)
	rm -rf $(PROFILE)
	build/training/bench/praxis_training

fuzz: setup-check ## run each fuzzer for FUZZ_SECONDS
	$(call build,fuzz)
	scripts/fuzz build/fuzz $(FUZZ_SECONDS)

clients: setup ## let unmodified clients, such as OpenAI's, use the server (needs node and npm)
	$(call build,test,praxis_cli praxis_c engines_test)
	scripts/check-clients build/test/praxis build/clients
	scripts/check-restate build/test/praxis build/restate

page: setup ## build the page of `praxis serve`, the template engines and the binary with them (needs node and npm)
	scripts/build-page
	scripts/build-templates
	$(call build,run,praxis_cli)

page-check: setup-check ## drive the page in Chromium (needs node and npm)
	scripts/build-page --or-skip
	$(call build,test,praxis_cli)
	scripts/check-page build/test/praxis build/page-check

sdk: setup ## compare the vendors' own clients with ours on recorded answers (needs node and npm)
	$(call build,test,wire_check)
	scripts/check-sdks build/test/wire_check build/sdk

install: trained ## build with profile-guided optimisation and copy to PREFIX; with the page if `make page` built it
	$(call build,release,,-DPRAXIS_PROFILE=$(PROFILE) $(REVISION) $(USUAL_FOLDERS))
	cmake --install build/release --prefix $(PREFIX)

package: trained ## build as `make install` does, and write Debian packages to build/release/packages
	$(call build,release,,-DPRAXIS_PROFILE=$(PROFILE) $(REVISION) $(PACKAGE_FOLDERS))
	umask 022 && cpack --config build/release/CPackConfig.cmake

package-check: setup-check ## install and remove the packages in a clean Debian system, and make them twice; needs root
	$(call build,test,,$(PACKAGE_FOLDERS))
	rm -rf build/test/packages
	umask 022 && cpack --config build/test/CPackConfig.cmake >build/test/cpack.log || { cat build/test/cpack.log; exit 1; }
	tests/package/twice build/test build/package-twice
	cmake --preset test $(USUAL_FOLDERS) >/dev/null
	tests/package/check build/test/packages build/package-check

clean: ## remove all builds
	rm -rf build

build/schema-suite/tests:
	@scripts/fetch-schema-suite build/schema-suite || \
	  echo "The public JSON Schema test suite could not be fetched; its test will be skipped."

setup:
	@scripts/setup

setup-test:
	@scripts/setup --test

setup-check:
	@scripts/setup --check

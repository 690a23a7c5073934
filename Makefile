# The front door: everything is built by CMake, in build/.
#
#   make          build the command, the examples, the benchmarks and the tests
#   make demo     run the conjugate-gradient example on four ranks, then show its schedules
#   make check    build and run the tests that tell most for their time
#   make firmware  a ring of three microcontrollers in QEMU (examples/firmware)
#   make boards   racks of microcontrollers on one Ethernet, in QEMU (examples/boards)
#   make test     build everything and run all tests
#   make try FILE=my.h  prove, draw and simulate the algorithms of one header
#   make coverage  run the tests again, counting lines and branches: build/coverage/report/index.html
#   make docs     the documents and an API reference as a site: build/docs/site/index.html
#   make bench    say how to run the benchmarks
#   make reproduce  numbers and figures of the papers again: build/reproduce/report.md
#   make format   clang-format every source file
#   make dist URL=…  what a release consists of: build/dist; URL: where it will lie
#   make install  install into PREFIX (default /usr/local)
#   make clean    remove build/
BUILD  = build
PREFIX = /usr/local
JOBS  := $(shell nproc 2>/dev/null || echo 2)
MAKEFLAGS += --no-print-directory
# Make would compile no program before the library that it is linked with.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)

# $(call need,PROGRAM,WHAT,PACKAGE): stop with one sentence if PROGRAM is missing.
need = command -v $(1) >/dev/null 2>&1 || \
	{ echo "coll: $(2) is missing; on Debian: apt-get install $(3)" >&2; exit 1; }

.PHONY: all build needs configure try demo check emulators firmware boards test coverage docs bench reproduce format dist install clean help

all: build

help:
	@sed -n 's/^#   //p' Makefile

# A compiler that the caller names with CC must exist; otherwise CMake takes cc, gcc or clang.
needs:
ifeq ($(origin CC),default)
	@command -v cc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 || \
	$(call need,gcc,a C compiler,gcc libc6-dev)
else
	@$(call need,$(firstword $(CC)),the C compiler $(CC),gcc libc6-dev)
endif
	@$(call need,cmake,cmake,cmake)

configure: needs
	@{ test -f $(BUILD)/CTestTestfile.cmake && test -z "$(CMAKE_OPTIONS)"; } || cmake -S . -B $(BUILD) $(CMAKE_OPTIONS)

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS)

check: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target coll_check
	@cd $(BUILD) && ctest --output-on-failure --parallel $(JOBS) --label-regex '^check$$'

# proof/few is a part of proof.
test: build
	@cd $(BUILD) && { ctest --output-on-failure --parallel $(JOBS) --exclude-regex '^proof/few$$'; status=$$?; \
		grep -h '^skipped: ' Testing/Temporary/LastTest.log | sort -u; exit $$status; }

# Without optimization, so that each branch is one of the source; two threads, processes or programs that count
# in one file wait for each other. PYTHONOPTIMIZE: gcovr 5 asserts that a function is on the same line in all
# programs; those of reduce.h depend on how floats are computed. The proof is left out: tests/gates/coverage.sh counts what it executes.
coverage: configure
	@$(call need,gcovr,gcovr,gcovr)
	@cmake -S . -B $(BUILD)/coverage -DCMAKE_BUILD_TYPE=Debug -DCOLL_COVERAGE=ON -DCOLL_BUILD_GATES=OFF \
		-DCOLL_BUILD_BENCH=OFF -DCOLL_BUILD_MPI=OFF
	@cmake --build $(BUILD)/coverage --parallel $(JOBS)
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@cd $(BUILD)/coverage && ctest --output-on-failure --parallel $(JOBS) --exclude-regex '^proof$$'
	@mkdir -p $(BUILD)/coverage/report
	@PYTHONOPTIMIZE=1 gcovr -j $(JOBS) --root . --filter include/coll/ --exclude-unreachable-branches \
		--html-details $(BUILD)/coverage/report/index.html --txt $(BUILD)/coverage/report/lines.txt \
		--print-summary --fail-under-line 95 --fail-under-branch 88 $(BUILD)/coverage

# An edit of a header of the tree is tried by the command as it was built before, within seconds.
try: configure
	@test -n "$(FILE)" || { echo "coll: FILE is missing, as in make try FILE=include/coll/algos/ring.h" >&2; exit 1; }
	@test -x $(BUILD)/coll || cmake --build $(BUILD) --parallel $(JOBS) --target coll_command
	@$(BUILD)/coll try "$(FILE)" $(TRY)

# Built apart, without optimization, which would take longer than all else.
demo: DEMO = $(BUILD)/demo
demo: needs
	@cmake -S . -B $(DEMO) -DCMAKE_BUILD_TYPE=Debug -DCOLL_BUILD_TESTS=OFF -DCOLL_BUILD_BENCH=OFF -DCOLL_BUILD_MPI=OFF >/dev/null
	@cmake --build $(DEMO) --parallel $(JOBS) --target examples_cg coll_command
	@cd $(DEMO) && examples/cg --grid 24,24,24 --ranks 4 >demo.txt && cat demo.txt && \
	sed -n 's/^ *\(coll show .*\)/\1/p' demo.txt | while read -r line; do \
		echo; echo "$$ $(DEMO)/$$line"; echo; ./$$line || exit 1; done

docs:
	@$(call need,doxygen,doxygen,doxygen)
	@$(call need,mkdocs,mkdocs,mkdocs mkdocs-material)
	@sh docs/site/build.sh $(BUILD)/docs
	@echo $(BUILD)/docs/site/index.html

emulators:
	@$(call need,arm-none-eabi-gcc,a compiler for Arm,gcc-arm-none-eabi)
	@$(call need,riscv64-unknown-elf-gcc,a compiler for RISC-V,gcc-riscv64-unknown-elf)
	@$(call need,qemu-system-arm,QEMU,qemu-system-arm)
	@$(call need,qemu-system-riscv32,QEMU for RISC-V,qemu-system-misc)

firmware: emulators
	@$(MAKE) -s -C examples/firmware all run

boards: emulators
	@$(MAKE) -s -C examples/boards all run

bench: build
	@echo "Benchmarks print CSV; run them on a quiet machine:"
	@for program in $(BUILD)/bench/*; do test "$${program##*/}" != reproduce && \
		test -f "$$program" && test -x "$$program" && echo "    $$program"; done; true
	@for script in bench/*.sh; do echo "    $$script"; done

reproduce: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target reproduce

format:
	@$(call need,clang-format,clang-format,clang-format)
	@find include mpi tests tools examples bench -path tests/gates/bad -prune -o \
		-name '*.[ch]' -print | xargs clang-format -i

dist: configure
	@$(call need,python3,Python,python3)
	@cmake --build $(BUILD) --parallel $(JOBS) --target coll_command
	@python3 packages/dist.py $(BUILD)/dist --command $(BUILD)/coll $(if $(URL),--url "$(URL)")

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf $(BUILD)

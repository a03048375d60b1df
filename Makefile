# The targets of this project. Each can be repeated, shows what it does and how long it took; `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help run test build sheet programs install uninstall dist examples acceptance bench fuzz stress format clean

# A target is one script or one line; scripts/ has what they share. Targets never run in parallel: they share .build.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

help: ## print this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'

run: build ## build, then demonstrate Vauban
	@scripts/timed run scripts/demo

test: ## run Swift tests, script tests and the acceptance table; ONLY=NAME runs one, in debug, within a minute
	@if [ -n "$(ONLY)" ]; then scripts/timed test scripts/run-one "$(ONLY)"; else scripts/run-tests; fi

build: ## install missing packages (asks first), then build everything in release
	@scripts/timed build scripts/build

sheet: ## build the desktop windows, for prompts and for your items, with GTK 4; `make install` then installs them too
	@scripts/timed sheet scripts/build sheet

programs: ## build what `make install` installs: programs with Swift's libraries, and the modules of `vauban sdk`
	@scripts/timed programs sh -c 'scripts/build-programs && scripts/build-sdk'

install: ## install the service, as root; PREFIX=$HOME/.local without root: user mode
	@scripts/timed install scripts/install

uninstall: ## remove the installation; lists the data that it keeps
	@scripts/timed uninstall scripts/uninstall

dist: ## create a tarball and .deb packages for machines without Swift, tested on a bare system
	@scripts/timed dist scripts/dist

examples: build ## run the programs in Examples, and show the commands with what they print
	@scripts/timed examples env VAUBAN_SHOWS_EXAMPLES=1 swift test -c release --skip-build --disable-xctest --filter ExamplesTests

acceptance: ## print the acceptance table of the last test run
	@[ -f .build/test-results/acceptance.txt ] || scripts/run-tests
	@scripts/timed acceptance cat .build/test-results/acceptance.txt

bench: build ## run the benchmarks
	@scripts/timed bench Benchmarks/run

fuzz: ## fuzz the sockets of enclave and keychain, state files, rows, certificates and signed executables, ten minutes each (FUZZ_SECONDS=60 for less)
	@scripts/timed fuzz Fuzz/run

stress: build ## run writers and readers for a minute, a hundred thousand power cuts, twenty thousand look-ups and a circle's devices while rooms are killed
	@scripts/timed stress env VAUBAN_STRESS_SECONDS=60 VAUBAN_POWER_CUTS=100000 swift test -c release --skip-build --disable-xctest \
		--filter 'StressTests|PowerCutTests'
	@folder=$$(mktemp -d) && TMPDIR=$$folder VAUBAN_BUILD=$$PWD/.build/release LOOKUPS=20000 \
		scripts/timed stress Tests/Scripts/secret-service-faults.sh; status=$$?; rm -rf "$$folder"; exit $$status
	@folder=$$(mktemp -d) && TMPDIR=$$folder VAUBAN_BUILD=$$PWD/.build/release DEVICES=18 FAULTS=200 \
		scripts/timed stress Tests/Scripts/sync-fleet.sh; status=$$?; rm -rf "$$folder"; exit $$status

format: ## format every Swift file by .swift-format
	@scripts/timed format scripts/format

clean: ## remove all build products
	@scripts/timed clean rm -rf .build dist

# The verbs of this project. Each can be repeated, shows what it does and says how long it took; `make` alone lists them.

.DEFAULT_GOAL := help
.PHONY: help run test build sheet programs install uninstall dist examples acceptance bench fuzz stress format clean

# A verb is one script or one line; what they share is in scripts/. Verbs never run beside each other: they share .build.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'

run: build ## build, then show what Vauban does
	@scripts/timed run scripts/demo

test: ## everything that proves it: Swift tests, script tests, the acceptance table; ONLY=NAME for one, in debug, within a minute
	@if [ -n "$(ONLY)" ]; then scripts/timed test scripts/run-one "$(ONLY)"; else scripts/run-tests; fi

build: ## install what is missing (asks first), then build everything in release
	@scripts/timed build scripts/build

sheet: ## build the window that asks on a desktop, with GTK 4; `make install` then installs it too
	@scripts/timed sheet scripts/build sheet

programs: ## build what is installed: programs with the libraries of Swift beside them, and the modules of `vauban sdk`
	@scripts/timed programs sh -c 'scripts/build-programs && scripts/build-sdk'

install: ## install the service, as root; PREFIX=$HOME/.local without root: user mode
	@scripts/timed install scripts/install

uninstall: ## remove what was installed; names the data that it leaves
	@scripts/timed uninstall scripts/uninstall

dist: ## a tarball and .deb packages for machines without Swift, checked on a bare system
	@scripts/timed dist scripts/dist

examples: build ## run the small programs under Examples
	@scripts/timed examples Examples/run

acceptance: ## the acceptance table of the last test run
	@[ -f .build/test-results/acceptance.txt ] || scripts/run-tests
	@scripts/timed acceptance cat .build/test-results/acceptance.txt

bench: build ## run the measurements under Benchmarks
	@scripts/timed bench Benchmarks/run

fuzz: ## fuzz the doors of enclave and keychain, state files, rows and certificates, ten minutes each (FUZZ_SECONDS=60 for less)
	@scripts/timed fuzz Fuzz/run

stress: build ## sixteen writers and sixteen readers for a minute, and a hundred thousand power cuts
	@scripts/timed stress env VAUBAN_STRESS_SECONDS=60 VAUBAN_POWER_CUTS=100000 swift test -c release --skip-build --disable-xctest \
		--filter 'StressTests|PowerCutTests'

format: ## lay out every Swift file by .swift-format
	@scripts/timed format scripts/format

clean: ## remove everything that a build made
	@scripts/timed clean rm -rf .build dist

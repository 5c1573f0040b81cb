# SPDX-License-Identifier: GPL-2.0-only
# The front door. Each target does all that is needed before it, also on a bare machine.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
export PCTCTL_DEPS ?= $(CURDIR)/.deps

PREFIX ?= /usr/local
BUILD := build
# A configured tree is only looked at again when CMake finds that it has to.
CONFIGURE = [ -f $(BUILD)/build.ninja ] || cmake --preset release \
	-DCMAKE_INSTALL_PREFIX=$(PREFIX) -DPCTCTL_DEPS=$(PCTCTL_DEPS) >/dev/null
NINJA = cmake --build $(BUILD) --target

.PHONY: all setup vm demo check check-fast check-long kernel-next bench bench-policies bench-zoo bench-model format lint lint-all install clean distclean help

all: setup ## build everything
	@$(CONFIGURE)
	@$(NINJA) all

help: ## this text
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 22

setup:
	@setup/packages
	@setup/deps

vm: setup ## build the virtual machine's parts only
	@$(CONFIGURE)
	@$(NINJA) vm

demo: setup ## find a bug in a small program, then replay it
	@$(CONFIGURE)
	@$(NINJA) pctctl zoo vm
	@setup/demo

check: all ## build and test; ends with the summary of the tests
	@setup/test -LE long

check-fast: all ## the host's tests and two in a virtual machine: minutes
	@setup/test -L '^(host|smoke)$$' -LE long

check-long: all ## all tests, also those that take hours, and all of lint
	@setup/packages --lint
	@setup/lint --all
	@setup/test

kernel-next: all ## fetch the newest kernel beside the tested one, and try it
	@setup/deps --next $(CURDIR)/.deps-next
	@echo "kernel-next: $$(cat .deps-next/kernel/release)"
	@PCTCTL_DEPS=$(CURDIR)/.deps-next setup/test -L smoke -LE long

bench: all ## measure, in one virtual machine
	@$(NINJA) benchmarks
	@setup/bench

bench-policies: all ## what a step costs under each policy, and what PPCT saves
	@$(NINJA) benchmarks
	@setup/bench policies

bench-zoo: all ## which policy finds which bug of the zoo, how soon and how often
	@$(NINJA) benchmarks
	@setup/bench zoo $(RUNS)

bench-model: setup ## what the policies find in a model of programs, beside the papers' numbers
	@$(CONFIGURE)
	@$(NINJA) bench_model
	@$(BUILD)/benchmarks/model

# Not bpf/, which is laid out as the kernel's BPF programs are; clang-format knows no such style.
SOURCES = $(shell git ls-files '*.c' '*.cc' '*.h' ':!bpf' 2>/dev/null)

format: ## rewrite sources in the project's layout
	@setup/packages --lint
	@clang-format-19 -i $(SOURCES)

lint: all ## layout, shellcheck, clang-tidy of what has changed
	@setup/packages --lint
	@setup/lint

lint-all: all ## the same, clang-tidy of everything
	@setup/packages --lint
	@setup/lint --all

install: all ## to PREFIX (/usr/local), below DESTDIR
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean: ## remove what was built
	@rm -rf $(BUILD)

distclean: clean ## and what was fetched
	@rm -rf .deps .deps-next

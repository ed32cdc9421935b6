# The front door for people and the build server. `make` alone lists what there is.
# Needs GNU make, /bin/sh and CPython 3.11 or newer; all else lands in .venv.

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest
ARGS ?=

# Downloads are kept between runs, outside the clone; outcomes never are.
export WEIR_TEST_CACHE ?= $(HOME)/.cache/weir-studio-tests
# Without a UTF-8 locale Qt warns, and a warning fails the tests.
export LC_ALL := C.UTF-8
# Every command that the tests start would compile all of the Studio again, a second each.
unexport PYTHONDONTWRITEBYTECODE

# What Qt's offscreen and xcb platforms load, and a screen for them; systemd's checker of units and
# a message bus; what reads the window as a screen reader does. Node.js and npm, for OpenAI's JavaScript client, may have come another way.
APT := libgl1 libegl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libgssapi-krb5-2 \
       libxcb-cursor0 libxkbcommon-x11-0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 \
       xvfb xauth patch diffutils git systemd dbus at-spi2-core gir1.2-atspi-2.0 python3-gi

# Every target that is a plain word; files have a dot or a slash.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))
.DEFAULT_GOAL := help

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) \
	  | while IFS='|' read -r name text; do printf '  %-16s%s\n' $$name "$$text"; done

# --- Setting up ---------------------------------------------------------------------------

deps: $(VENV)/.stamp-deps ## Make .venv with the command .venv/bin/weir

up: deps ## Set everything up and serve a model on 127.0.0.1
	@exec $(BIN)/weir up $(ARGS)

# pip tells an index the version of `rustc`, and where that is rustup's stand-in, asking makes
# ~/.rustup. Where there is none, it and its toolchains are not needed: a place of our own, then.
OWN_RUSTUP := [ -n "$$RUSTUP_HOME" ] || [ -d "$$HOME/.rustup" ] \
	|| export RUSTUP_HOME="$$PWD/$(VENV)/rustup"

# Written last, so that an interrupted set-up is continued and a finished one costs nothing.
# What it says goes to standard error: standard output is `weir up`'s, which may be JSON.
$(VENV)/.stamp-deps: requirements.lock pyproject.toml
	@set -e; exec >&2; $(OWN_RUSTUP); \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  found=; \
	  for name in python3.11 python3.12 python3.13 python3.14 python3; do \
	    if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      found=$$name; break; \
	    fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo 'error: Weir Studio needs Python 3.11 or newer; none was found.' >&2; \
	    echo 'hint: On Debian or Ubuntu: apt-get install python3 python3-venv' >&2; \
	    exit 1; \
	  fi; \
	  if ! $$found -c 'import ensurepip, venv' 2>/dev/null \
	    && [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    echo 'Installing python3-venv, which Debian keeps apart from Python.'; \
	    apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	      python3-venv >/dev/null; \
	  fi; \
	  if ! $$found -c 'import ensurepip, venv' 2>/dev/null; then \
	    version=$$($$found -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	    echo "error: $$found cannot make environments: its venv or ensurepip module is missing." >&2; \
	    echo "hint: On Debian or Ubuntu: apt-get install python$$version-venv" >&2; \
	    exit 1; \
	  fi; \
	  echo 'Setting up .venv: about 150 MB to download, once.'; \
	  $$found -m venv --clear $(VENV); \
	fi; \
	quiet=--quiet; if [ -t 2 ]; then quiet=; fi; \
	$(BIN)/python -m pip install --disable-pip-version-check $$quiet \
	  --require-hashes -r requirements.lock || { \
	  echo 'error: Packages of requirements.lock could not be installed; pip says why above.' >&2; \
	  echo 'hint: Without a network, put the wheels into a folder and set PIP_FIND_LINKS to it.' >&2; \
	  exit 1; }; \
	$(BIN)/python -m pip install --disable-pip-version-check --quiet \
	  --no-deps --no-build-isolation -e .; \
	touch $@

$(VENV)/.stamp-dev: $(VENV)/.stamp-deps requirements-dev.lock
	@$(OWN_RUSTUP); $(BIN)/python -m pip install --disable-pip-version-check --quiet \
	  --require-hashes -r requirements-dev.lock
	@touch $@

dev: $(VENV)/.stamp-dev ## Add what checks and tests need to .venv

# Debian 13 and Ubuntu 24.04 call libglib2.0-0 by another name.
apt:
	@set -e; \
	command -v apt-get >/dev/null 2>&1 || exit 0; \
	missing() { ! dpkg-query -W -f '$${db:Status-Status}' "$$1" 2>/dev/null | grep -qx installed; }; \
	wanted=; \
	for name in $(APT); do if missing $$name; then wanted="$$wanted $$name"; fi; done; \
	if missing libglib2.0-0 && missing libglib2.0-0t64; then \
	  if apt-cache show libglib2.0-0t64 >/dev/null 2>&1; then \
	    wanted="$$wanted libglib2.0-0t64"; else wanted="$$wanted libglib2.0-0"; fi; \
	fi; \
	if ! $(BIN)/python -m pip --version >/dev/null 2>&1 \
	  && ! python3 -c 'import ensurepip' 2>/dev/null; then wanted="$$wanted python3-venv"; fi; \
	if ! command -v node >/dev/null 2>&1; then wanted="$$wanted nodejs"; fi; \
	if ! command -v npm >/dev/null 2>&1; then wanted="$$wanted npm"; fi; \
	if [ -z "$$wanted" ]; then exit 0; fi; \
	if [ "$$(id -u)" -ne 0 ]; then \
	  echo "warning: The window's tests may need packages: apt-get install$$wanted" >&2; exit 0; \
	fi; \
	echo "Installing$$wanted"; \
	apt-get update -qq; \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$wanted >/dev/null

# --- Checking -----------------------------------------------------------------------------

test: ## Install what the tests need and run everything
	@$(MAKE) --no-print-directory apt
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory --keep-going --jobs=$(LANES_AT_ONCE) \
	  --output-sync=target $(LANES)

# Two at a time, the long ones first. Each says its result when it ends. On two cores with two at
# once 15, 20, 12 and 8 minutes were seen, before installations and services were shared; since then
# the engine's tests from installation to killed and back took 4.3, 7 of 10 in tests/app 3.2. They wait
# more than they compute: LANES_AT_ONCE=3 is for a machine that has nothing else to do.
# Where ARGS choose tests, a lane may have none of them (pytest's 5).
# The slowest of each are named: that is where the minutes go.
SLOWEST := --durations=20 --durations-min=5
LANES_AT_ONCE ?= 2
LANES := lane-real $(if $(ARGS),lane-rest,lane-service lane-parts lane-host)
SERVICE_TESTS := tests/app tests/cli tests/e2e
HOST_TESTS := tests/gateway tests/host tests/hub tests/installer tests/doctor tests/fakes tests/clients

lane-real:
	@$(PYTEST) $(SLOWEST) -m 'real and not soak' --ignore=tests/meta $(ARGS) || [ $$? -eq 5 -a -n '$(ARGS)' ]

lane-rest:
	@$(PYTEST) $(SLOWEST) -m 'not real and not soak' --ignore=tests/meta $(ARGS) \
	  || [ $$? -eq 5 -a -n '$(ARGS)' ]

lane-service:
	@$(PYTEST) $(SLOWEST) -m 'not real and not soak' $(SERVICE_TESTS)

lane-parts:
	@$(PYTEST) $(SLOWEST) -m 'not real and not soak' --ignore=tests/meta \
	  $(SERVICE_TESTS:%=--ignore=%) $(HOST_TESTS:%=--ignore=%)

lane-host:
	@$(PYTEST) $(SLOWEST) -m 'not real and not soak' $(HOST_TESTS)

check: dev ## Lint, format, types, layers, spelling, layout: half a minute
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell studio runtimes presets installer tests docs README.md CHANGELOG.md Makefile
	$(PYTEST) -q tests/meta

pure: dev ## Tests without the window and without the real engine
	$(PYTEST) -m 'not real and not soak' --ignore=tests/ui --ignore=tests/meta $(ARGS)

ui: dev ## Tests of the window, offscreen
	$(PYTEST) -m 'not real and not soak' tests/ui $(ARGS)

real: dev ## Tests that boot the real engine (about 600 MB the first time)
	$(PYTEST) -m real $(ARGS)

soak: dev ## Long runs with large counts
	$(PYTEST) -m soak $(ARGS)

# --- Measuring (docs/benchmarks.md) ------------------------------------------------------

bench-gateway: dev ## Gateway against talking to the engine directly
	$(BIN)/python -m tests.bench.bench_gateway $(ARGS)

bench-keys: dev ## What looking at a key costs, and asking for a year of usage
	$(BIN)/python -m tests.bench.bench_keys $(ARGS)

bench-install: dev ## Cold install against a plain uv pip sync
	$(BIN)/python -m tests.bench.bench_install $(ARGS)

bench-store: dev ## What a second runtime costs; ARGS=--real for the ones for the processor
	$(BIN)/python -m tests.bench.bench_store $(ARGS)

bench-verify: dev ## Verifying a runtime against sha256sum
	$(BIN)/python -m tests.bench.bench_verify $(ARGS)

bench-download: dev ## Kills and speed of downloads, beside curl
	$(BIN)/python -m tests.bench.bench_download $(ARGS)

bench-models: dev ## What looking at 500 models costs
	$(BIN)/python -m tests.bench.bench_models $(ARGS)
bench-hub: dev ## Models from a hub, beside curl and huggingface_hub, over a line that takes time
	$(BIN)/python -m tests.bench.bench_hub $(ARGS)

bench-bundle: dev ## A runtime into one signed file, and out of it
	$(BIN)/python -m tests.bench.bench_bundle $(ARGS)

bench-up: dev ## `weir up` over the engine's own boot
	$(BIN)/python -m tests.bench.bench_up $(ARGS)

bench-death: dev ## From an engine's death to the next one serving; ARGS=--home for a real one
	$(BIN)/python -m tests.bench.bench_death $(ARGS)

bench-on-demand: dev ## What a start on demand adds to the engine's own boot
	$(BIN)/python -m tests.bench.bench_on_demand $(ARGS)

bench-plan: dev ## The plans of all presets on every host of the catalogue
	$(BIN)/python -m tests.bench.bench_plan $(ARGS)

bench-planner: dev ## Recorded and published pools against what the planner makes of them
	$(BIN)/python -m tests.bench.bench_planner $(ARGS)

bench-top: dev ## What `weir top` costs: CPU and bytes to the terminal
	$(BIN)/python -m tests.bench.bench_top $(ARGS)

bench-history: dev ## What the history costs to write, to keep and to ask; ARGS=--days 400
	$(BIN)/python -m tests.bench.bench_history $(ARGS)

bench-speed: dev ## tok/s as shown against tokens that a client counts; ARGS=--home for a real engine
	$(BIN)/python -m tests.bench.bench_speed $(ARGS)

bench-monitor: dev ## What the monitor costs with eight cards, beside nvitop
	$(BIN)/python -m tests.bench.bench_monitor $(ARGS)

bench-idle: dev ## CPU and memory of the idle service
	$(BIN)/python -m tests.bench.bench_idle $(ARGS)

bench-logs: dev ## CPU and stalls while 100,000 log lines a second arrive
	$(BIN)/python -m tests.bench.bench_logs $(ARGS)

bench-alarms: dev ## What spill and alarms cost in a second, and how soon an alarm is told
	$(BIN)/python -m tests.bench.bench_alarms $(ARGS)

bench-charts: dev ## What eight charts of an hour cost to repaint
	$(BIN)/python -m tests.bench.bench_charts $(ARGS)

bench-log-view: dev ## What a burst, a search and a filter cost a full log view
	$(BIN)/python -m tests.bench.bench_log_view $(ARGS)

bench-long-window: dev ## What a window holds and costs over ten minutes, and hidden
	xvfb-run -a -s '-screen 0 2560x1600x24' $(BIN)/python -m tests.bench.bench_long_window $(ARGS)

bench-window: dev ## First paint and idle figures of the window
	xvfb-run -a -s '-screen 0 2560x1600x24' $(BIN)/python -m tests.bench.bench_window $(ARGS)

# --- Packaging ----------------------------------------------------------------------------

packages: dev ## Build the .deb, the .run, the setup for Windows, an apt folder, SBOM and sums into dist/
	@$(MAKE) --no-print-directory apt APT='dpkg makeself binutils xz-utils apt-utils patchelf nsis \
	  gcc-mingw-w64-x86-64 debootstrap'
	$(BIN)/python -m installer.build $(ARGS)

packages-newer: dev ## Build the next version's packages into dist-newer/, for packages-test to update to
	@$(MAKE) --no-print-directory apt APT='dpkg makeself binutils xz-utils apt-utils patchelf'
	$(BIN)/python -m installer.newer dist-newer $(ARGS)

# The libraries make a stand-in of the file that mounts an AppImage.
packages-test: dev ## As root: try dist/ in roots of Debian 12 and 13, and under wine; goes on where it was cut off
	@$(MAKE) --no-print-directory apt APT='debootstrap iproute2 makeself gcc squashfs-tools libsquashfuse-dev \
	  libfuse3-dev libzstd-dev liblzma-dev liblz4-dev zlib1g-dev liblzo2-dev'
	$(BIN)/python -m installer.trial dist $(ARGS)

rootfs: dev ## As root: build the Studio's Linux for WSL out of dist/'s .deb
	@$(MAKE) --no-print-directory apt APT='debootstrap'
	$(BIN)/python -m installer.windows.rootfs dist/*.deb dist $(ARGS)

rootfs-test: dev ## As root: try that Linux in a chroot (ARGS=--home=… serves a model)
	$(BIN)/python -m installer.windows.rootfs_trial dist/weir-studio-rootfs.tar.xz $(ARGS)

# --- Keeping up ---------------------------------------------------------------------------

COMPILE := $(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header

lock: dev ## Write the locks anew from the .in files (ARGS=--upgrade for newer versions)
	$(COMPILE) -q $(ARGS) -o requirements.lock requirements.in
	$(COMPILE) -q $(ARGS) -o requirements-dev.lock requirements-dev.in

schema: deps ## Write the JSON schemas of recipes and presets anew from the types
	$(BIN)/python -m installer.schemas

words: dev ## Collect the window's texts, add new ones to the catalogues, compile those
	$(BIN)/python -m installer.words

snapshots: dev ## Render every preset on every known host anew; review the difference
	$(BIN)/python -m tests.presets.snapshots

screenshots: dev ## Draw every page into .shots: both themes, both languages, plain and dense screens
	for scale in 1 2; do for language in en zh_CN; do \
	  QT_SCALE_FACTOR=$$scale xvfb-run -a -s '-screen 0 3840x2160x24' $(BIN)/python -m \
	    tests.ui.screenshots .shots/$$language-$${scale}x $$language || exit 1; \
	done; done

clean: ## Remove .venv, caches and build outputs; what the Studio installed stays
	@if grep -qs ' $(CURDIR)/build/' /proc/mounts; then \
	  echo 'error: Something is mounted below build/; removing it would empty that as well.' >&2; \
	  echo 'hint: umount what `grep build /proc/mounts` lists, then run it again.' >&2; exit 1; fi
	rm -rf $(VENV) build dist dist-newer .shots .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache *.egg-info
	find studio tests runtimes -name __pycache__ -type d -prune -exec rm -rf {} +

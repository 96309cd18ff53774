# The two commands of this project:
#
#   make run     bring the demolition robot up in real time and publish it on ROS 2
#   make test    check and test everything
#
# Both make the virtual environment first where it is missing or out of date (tooling/setup_environment.py).

VENV ?= .venv
PYTHON ?=
MACHINE ?=
WORLD ?=
DURATION ?=
VIEW ?= 1
LOOPBACK ?= 1
TEST_ARGUMENTS ?=
WORKERS ?= 4

SETUP := python3 tooling/setup_environment.py --venv '$(VENV)' --python '$(PYTHON)'
# Environment variables of recipes: the wheels must not see a sourced ROS 2, nor the library path of another environment.
IN := python3 tooling/run_in_environment.py '$(VENV)'
BIN := $(VENV)/bin

ifeq ($(LOOPBACK),1)
# Fast DDS on 127.0.0.1 only. LOOPBACK=0 opens ROS 2 to the network. Jazzy reads the first variable, Kilted the second.
export FASTRTPS_DEFAULT_PROFILES_FILE := $(CURDIR)/config/fastdds_loopback.xml
export FASTDDS_DEFAULT_PROFILES_FILE := $(CURDIR)/config/fastdds_loopback.xml
endif

# The tests start some two hundred processes: bytecode is kept, whatever the shell says.
test coverage kernels lint: export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test coverage kernels soak socketcan uinput lint docs bench setup help clean distclean
.DEFAULT_GOAL := help

run: ## Run a machine: MACHINE=demolition_robot WORLD=flat DURATION=seconds VIEW=0|1 LOOPBACK=0|1
	@$(SETUP) --purpose run
	@$(IN) python -m grouser.cli run --allow-late $(if $(MACHINE),--machine '$(MACHINE)') $(if $(WORLD),--world '$(WORLD)') \
		$(if $(DURATION),--duration '$(DURATION)') $(if $(filter 0,$(VIEW)),--no-view,--view) \
		$(if $(PORT),--port '$(PORT)')

test: ## Check and test everything: TEST_ARGUMENTS='-k word' WORKERS=4
	@$(SETUP) --purpose test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint kernels
	@$(IN) python -m pytest -n $(WORKERS) --dist worksteal $(TEST_ARGUMENTS)

coverage: ## Run the tests and print which share of the Python code they run; takes half as long again
	@$(MAKE) --no-print-directory test TEST_ARGUMENTS="--cov --cov-report= $(TEST_ARGUMENTS)"
	@$(IN) python -m coverage report --format=total | sed 's/.*/coverage of the Python side: & %/'

# Compiles what most tests need, kernels and then the tests themselves, before several processes need it; runs beside
# the checks, which use one core. A test file with an error is reported by the run.
kernels:
	@$(SETUP) --purpose test
	@$(IN) python tooling/compile_kernels.py
	@$(IN) python -m pytest --collect-only -qq $(TEST_ARGUMENTS) > /dev/null 2>&1 || true

soak: ## Run the long tests for drift and leaks: SOAK_HOURS=2 (of simulated time)
	@$(SETUP) --purpose test
	@$(IN) python -m pytest -m soak -s --timeout 3600 $(TEST_ARGUMENTS)

# A kernel with SocketCAN that is an ordinary process; where the tests have none they are skipped.
socketcan: ## Run the tests of SocketCAN in user-mode Linux (apt: user-mode-linux)
	@$(SETUP) --purpose test
	@$(IN) python tooling/socketcan.py

# A kernel with joysticks in an emulated computer, which reads the files of this one.
uinput: ## Run the tests of joysticks in an emulated computer (apt: qemu-system-x86 linux-image-amd64 busybox-static)
	@$(SETUP) --purpose test
	@$(IN) python tooling/uinput.py

lint: ## Style, spelling, layers and types, without the tests
	@$(SETUP) --purpose test
	$(IN) ruff check --output-format concise .
	$(IN) codespell
	$(IN) lint-imports --no-logo
	$(IN) mypy
	$(IN) mypy tooling

docs: ## Make the documentation site, docs/_build/index.html
	@$(SETUP) --purpose docs
	@$(IN) python -m sphinx -q -W --keep-going -b html docs docs/_build
	@echo "docs/_build/index.html"

bench: ## Measure speed, beside Pinocchio, MuJoCo and PyBullet
	@$(SETUP) --purpose test
	@$(IN) python -m grouser.cli bench

setup: ## Make or update the environment for running and testing
	@$(SETUP) --purpose test

clean: ## Delete files made by builds and tools; keeps the environment
	rm -rf build install log docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## clean, and delete the environment
	rm -rf '$(VENV)' '$(VENV).lock' '$(VENV).log'

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 20

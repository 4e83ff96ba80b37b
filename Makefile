# `make run` opens lockscope; `make help` lists the rest. Each of these gets a redis-server first where there is none.

CARGO ?= cargo
PROFILE ?= release
ARGS ?=

# scripts/get-redis prints the server's path and says what it does when it has to get one.
with_redis = server=$$(scripts/get-redis) && LOCKSCOPE_REDIS_SERVER=$$server
lockscope = $(CARGO) run --locked --profile $(PROFILE) --bin lockscope --

.PHONY: help run test check check-wall check-valkey bench lint

help:
	@echo 'make run          open lockscope            (ARGS=wrong-delete: one lesson)'
	@echo 'make test         all tests'
	@echo 'make check        every lesson, headless     (ARGS=…: further options, PROFILE=dev: without optimising)'
	@echo 'make check-wall   the same in real time, without the lesson clock: takes minutes'
	@echo 'make check-valkey the lessons, and those of the tests, on Valkey 9 (got with pip where there is none)'
	@echo 'make bench        how fast it is'
	@echo 'make lint         formatting and clippy'

run:
	@$(with_redis) $(lockscope) $(ARGS)

# Documentation first, so that the last line is that of the runner which ran the most.
test:
	@$(with_redis) && export LOCKSCOPE_REDIS_SERVER && \
	$(CARGO) test --quiet --locked --doc && \
	if $(CARGO) nextest --version >/dev/null 2>&1; \
	then $(CARGO) nextest run --locked $(ARGS); \
	else $(CARGO) test --locked --lib --bins --tests $(ARGS); fi

check:
	@$(with_redis) $(lockscope) --check $(ARGS)

check-wall:
	@$(with_redis) $(lockscope) --check --clock wall $(ARGS)

# What only newer servers can do is skipped elsewhere; here nothing may be.
on_valkey = target/check-valkey.txt
check-valkey:
	@server=$$(scripts/get-valkey) && mkdir -p target && \
	for lessons in lessons tests/lessons/engine; do \
	  code=0; $(lockscope) --check $$lessons --redis-server "$$server" $(ARGS) >$(on_valkey) || code=$$?; \
	  cat $(on_valkey); [ $$code = 0 ] || exit $$code; \
	  ! grep -q '^skipped' $(on_valkey) || { echo 'lockscope: on this server nothing may be skipped' >&2; exit 1; }; \
	done

bench:
	@$(with_redis) $(CARGO) bench --locked --bench '*' $(ARGS)

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --quiet --locked --all-targets -- -D warnings

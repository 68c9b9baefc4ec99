# SPDX-License-Identifier: MIT
#
# tl: small programs that analyse GPU profiler traces. `make help` says what
# there is to make.
#
# Nothing is listed here by name. cmd/tl-x.c, cmd/tl-x/*.c (and one folder
# deeper), cmd/tl-x.sh and cmd/tl.c are programs, common/AREA/*.c is the library, tests/ has the tests; all products
# go below $(B). CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR are the user's.

# Where no tag of git says it.
VERSION    = 0.1.0

CC         = gcc
CLANG      = clang
CFLAGS     = -O2 -g
PREFIX     = /usr/local
PKG_CONFIG = pkg-config
FUZZ_SECONDS = 30

B    = build$(if $(ASAN),/asan)$(if $(TSAN),/tsan)
WARN = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
       -Wmissing-prototypes -Wvla -Wundef
UBSAN = -fsanitize=undefined -fno-sanitize-recover=undefined
SAN  = $(if $(ASAN),-fsanitize=address $(UBSAN) -fno-omit-frame-pointer) \
       $(if $(TSAN),-fsanitize=thread) \
       $(if $(FUZZ),-fsanitize=fuzzer-no-link -fsanitize=address $(UBSAN))

Q = $(if $(V),,@)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
# All cores, unless -j is given.
MAKEFLAGS += $(if $(filter 0,$(MAKELEVEL)),-j$(shell nproc 2>/dev/null || echo 2))

# --- Libraries: NAME_LIBS is empty where a library is missing ---------------

pc = $(shell $(PKG_CONFIG) --exists $1 2>/dev/null && $(PKG_CONFIG) $2 $1)
header = $(shell echo '\#include <$1>' | $(CC) $(CPPFLAGS) -E - >/dev/null 2>&1 && echo $2)

ZLIB_LIBS := $(call pc,zlib,--libs)
ZSTD_LIBS := $(call pc,libzstd,--libs)
ISAL_LIBS := $(call pc,libisal,--libs)
LUA_LIBS  := $(call pc,lua5.4,--libs)
XLSX_LIBS := $(call pc,xlsxwriter,--libs)
CSV_LIBS  := $(call header,csv.h,-lcsv)
MINIZIP_LIBS := $(call pc,minizip,--libs)
EXPAT_LIBS   := $(call pc,expat,--libs)
SQLITE_LIBS  := $(call pc,sqlite3,--libs)

# What an area, a program or a folder of one cannot do without. What is missing
# is left out, with every program that includes from an area left out, and the
# build says so. LIBS_prog is linked by that program only; the linker drops (--as-needed)
# what a program does not use of LIBS.
REQUIRED      = ZLIB ZSTD
NEEDS_model   = LUA
NEEDS_tl-xlsx = XLSX
LIBS_tl-xlsx  = $(XLSX_LIBS)
NEEDS_tl-compare = MINIZIP EXPAT CSV
LIBS_tl-compare  = $(MINIZIP_LIBS) $(EXPAT_LIBS)
NEEDS_tl-decode/sqlite = SQLITE
LIBS_tl-decode   = $(MINIZIP_LIBS) $(SQLITE_LIBS)
NEEDS_tl-replay = MINIZIP
LIBS_tl-replay  = $(MINIZIP_LIBS)
NEEDS_tl-sql = SQLITE
LIBS_tl-sql  = $(SQLITE_LIBS)
LIBS = $(ISAL_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(LUA_LIBS) $(CSV_LIBS) -lm

# Names of the libraries that $1 needs and that are not there.
lacks = $(strip $(foreach l,$(NEEDS_$1),$(if $($(l)_LIBS),,$l)))
MISSING := $(strip $(foreach l,$(REQUIRED),$(if $($(l)_LIBS),,$l)))

TL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Icommon -I. -I$(B) \
              $(if $(ISAL_LIBS),-DHAVE_ISAL) $(if $(CSV_LIBS),,-DNO_CSV) \
              $(call pc,zlib libzstd,--cflags) $(if $(LUA_LIBS),$(call pc,lua5.4,--cflags)) \
              $(if $(MINIZIP_LIBS),-DHAVE_MINIZIP $(call pc,minizip,--cflags)) $(if $(EXPAT_LIBS),$(call pc,expat,--cflags)) \
              $(if $(SQLITE_LIBS),-DHAVE_SQLITE $(call pc,sqlite3,--cflags))
TL_CFLAGS   = -std=gnu11 -pthread $(WARN) $(SAN)
TL_LDFLAGS  = -pthread $(SAN) -Wl,--as-needed
COMPILE := $(CC) $(TL_CPPFLAGS) $(CPPFLAGS) $(TL_CFLAGS) $(CFLAGS)
LINK    := $(CC) $(CFLAGS) $(TL_LDFLAGS) $(LDFLAGS)

# --- What there is -----------------------------------------------------------
AREAS     := $(sort $(notdir $(patsubst %/,%,$(wildcard common/*/))))
OUT_AREAS := $(strip $(foreach a,$(AREAS),$(if $(call lacks,$a),$a)))
LIB_SRC   := $(wildcard $(patsubst %,common/%/*.c,$(filter-out $(OUT_AREAS),$(AREAS))))
ALL_PROGS := $(sort $(basename $(notdir $(wildcard cmd/tl cmd/tl.* cmd/tl-*))))
FOLDERS   := $(patsubst cmd/%/,%,$(wildcard cmd/*/*/))
OUT_FOLDERS := $(strip $(foreach f,$(FOLDERS),$(if $(call lacks,$f),$f)))
src       = $(filter-out $(OUT_FOLDERS:%=cmd/%/%),$(wildcard cmd/$1.c cmd/$1/*.c cmd/$1/*/*.c))
user_of   = $(if $(call src,$2),$(shell grep -lE '^\#include "$1/' $(call src,$2) $(wildcard cmd/$2/*.h cmd/$2/*/*.h)))
OUT_PROGS := $(strip $(foreach p,$(ALL_PROGS),$(if $(call lacks,$p)$(foreach a,$(OUT_AREAS),$(call user_of,$a,$p)),$p)))
PROGS     := $(filter-out $(OUT_PROGS),$(ALL_PROGS))
SH_PROGS  := $(filter $(PROGS),$(basename $(notdir $(wildcard cmd/tl-*.sh))))
C_PROGS   := $(filter-out $(SH_PROGS),$(PROGS))

LEFT_OUT  := $(OUT_AREAS) $(OUT_PROGS:%=cmd/%) $(OUT_FOLDERS:%=cmd/%)
without   = $(if $(strip $(LEFT_OUT)),$(filter-out $(shell grep -lE $(LEFT_OUT:%=-e '^\#include "%/') $1 /dev/null),$1),$1)
TEST_SRC  := $(call without,$(wildcard tests/unit/*.c tests/fuzz/fuzz_*.c))
UNITS     := $(patsubst %.c,$(B)/%,$(filter tests/unit/%,$(TEST_SRC)))
FUZZERS   := $(patsubst %.c,$(B)/%,$(filter tests/fuzz/%,$(TEST_SRC)))
SOS       := $(patsubst tests/tools/%.c,$(B)/tests/%,$(wildcard tests/tools/*.so.c))
TOOLS     := $(patsubst tests/tools/%.c,$(B)/tests/%,$(call without,$(filter-out %.so.c,$(wildcard tests/tools/*.c))))
GEN       := $(if $(wildcard tests/gen/*.c),$(B)/tests/tl-gen)
objs      = $(patsubst %.c,$(B)/%.o,$1)
# Data that a folder has compiled in, as an array that scripts/embed.c writes.
data_of   = $(sort $(wildcard $(addprefix $1/,*.lua */*.json *.html *.css *.js *.sql *.py */*.txt)))
EMBEDS    := $(foreach f,$(addprefix common/,$(filter-out $(OUT_AREAS),$(AREAS))) $(PROGS:%=cmd/%),$(if $(call data_of,$f),$f))
embeds_of = $(patsubst %,$(B)/%/embedded.o,$(filter $1,$(EMBEDS)))
# A folder's objects without main, for tests that include "cmd/tl-x/y.h".
PARTS     := $(foreach p,$(C_PROGS),$(if $(wildcard cmd/$p/),$(B)/cmd/$p.a))
parts_of  = $(filter $(shell sed -n 's,^\#include "cmd/\(tl-[^/]*\)/.*,$(B)/cmd/\1.a,p' $1),$(PARTS))
libs_of   = $(foreach a,$(call parts_of,$1),$(LIBS_$(basename $(notdir $a))))

# --- Building ----------------------------------------------------------------
all: $(PROGS:%=$(B)/bin/%)
	$(if $(OUT_AREAS)$(OUT_PROGS)$(OUT_FOLDERS),@echo 'left out: $(foreach x,$(OUT_AREAS) $(OUT_PROGS) $(OUT_FOLDERS),$x$(if $(call lacks,$x), (no $(call lacks,$x)));) try make deps')

tests: all $(UNITS) $(TOOLS) $(SOS) $(GEN) $(FUZZERS)

$(B)/libtl.a: $(call objs,$(LIB_SRC)) $(call embeds_of,common/%)
	$(Q)$(RM) $@ && $(AR) rcs $@ $^

$(B)/embed: scripts/embed.c $(B)/flags
	$(Q)$(filter-out -fsanitize=%,$(COMPILE)) $(if $(LUA_LIBS),-DHAVE_LUA) -o $@ $< $(LUA_LIBS)

# The folders themselves: a file that is gone is seen.
define embed
$(B)/$1/embedded.c: $(call data_of,$1) $1 $(sort $(dir $(call data_of,$1))) $(B)/embed
	@mkdir -p $$(@D)
	$(Q)$(B)/embed $1 $(call data_of,$1) >$$@
$(B)/$1/embedded.o: $(B)/$1/embedded.c $(B)/flags
	$(Q)$$(COMPILE) -MMD -MP -c -o $$@ $$<
endef
$(foreach f,$(EMBEDS),$(eval $(call embed,$f)))

# Every object is made again when the compiler, the flags or a library change.
STAMP := $(subst ','\'',$(COMPILE) | $(LINK) | $(LIBS))
$(B)/flags: FORCE
	$(if $(MISSING),@echo 'missing libraries: $(MISSING); try make deps' >&2; exit 1)
	@mkdir -p $(@D)
	@echo '$(STAMP)' | cmp -s - $@ || echo '$(STAMP)' >$@

$(B)/version.h: FORCE | $(B)/flags
	@echo '#define TL_VERSION "'$$(scripts/version)'"' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/%.o: %.c $(B)/flags | $(B)/version.h
	@mkdir -p $(@D)
	$(if $(Q),@echo '  CC    $<')
	$(Q)$(COMPILE) $(if $(WERROR),-Werror) -MMD -MP -c -o $@ $<

define program
$(B)/bin/$1: $(call objs,$(call src,$1)) $(call embeds_of,cmd/$1) $(B)/libtl.a
	@mkdir -p $$(@D)
	$(if $(Q),@echo '  LINK  $$@')
	$(Q)$$(LINK) -o $$@ $$^ $$(LIBS_$1) $$(LIBS)
$(B)/cmd/$1.a: $(filter-out %/main.o %/$1.o,$(call objs,$(call src,$1))) $(call embeds_of,cmd/$1)
	$(Q)$$(RM) $$@ && $$(AR) rcs $$@ $$^
endef
$(foreach p,$(C_PROGS),$(eval $(call program,$p)))

$(SH_PROGS:%=$(B)/bin/%): $(B)/bin/%: cmd/%.sh $(B)/version.h
	@mkdir -p $(@D)
	$(Q)sed "s/@VERSION@/$$(scripts/version)/" $< >$@ && chmod +x $@

define test
$(patsubst %.c,$(B)/%,$1): $(call objs,$1) $2 $(call parts_of,$1) $(B)/libtl.a
	$(if $(Q),@echo '  LINK  $$@')
	$(Q)$$(LINK) $3 -o $$@ $$^ $(call libs_of,$1) $$(LIBS)
endef
REPLAY = $(if $(FUZZ),,$(B)/tests/fuzz/replay.o)
$(foreach t,$(filter tests/unit/%,$(TEST_SRC)),$(eval $(call test,$t)))
$(foreach t,$(filter tests/fuzz/%,$(TEST_SRC)),$(eval $(call test,$t,$(REPLAY),$(if $(FUZZ),-fsanitize=fuzzer))))

$(TOOLS): $(B)/tests/%: $(B)/tests/tools/%.o $(B)/libtl.a
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(SOS): $(B)/tests/%: tests/tools/%.c $(B)/flags
	@mkdir -p $(@D)
	$(Q)$(filter-out -fsanitize=%,$(COMPILE)) $(if $(WERROR),-Werror) -fPIC -shared -o $@ $< -ldl
$(GEN): $(call objs,$(wildcard tests/gen/*.c)) $(B)/libtl.a
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# --- For people --------------------------------------------------------------
# deps first and then a second make, which sees the libraries just installed.

export TL_BUILD = $(abspath $(B))

deps:
	scripts/deps build

demo:
	@scripts/deps build
	@$(MAKE) --no-print-directory all
	@scripts/demo $(if $(TRACE),"$$TRACE")

traces:
	@scripts/deps build
	@$(MAKE) --no-print-directory all $(GEN)
	@scripts/traces $(B)/traces

check:
	@scripts/deps check
	@$(MAKE) --no-print-directory tests
	@tests/run $(TESTS)

check-slurm:
	@scripts/deps slurm
	@$(MAKE) --no-print-directory all $(GEN)
	@tests/slurm/run

golden: tests
	@UPDATE=1 tests/run $(or $(TESTS),cli)

bench: tests
	@SCALE='$(SCALE)' tests/bench/run

fuzz:
	@$(MAKE) --no-print-directory CC='$(CLANG)' B=$(B)/fuzz FUZZ=y fuzzers
	@tests/fuzz/run $(B)/fuzz/tests/fuzz $(FUZZ_SECONDS) $(TESTS)

fuzzers: $(FUZZERS)
lint:
	@scripts/deps lint
	@scripts/lint

install: all
	install -D -t $(DESTDIR)$(PREFIX)/bin $(PROGS:%=$(B)/bin/%)
	PROGS='$(PROGS)' scripts/install-share $(DESTDIR)$(PREFIX)/share

uninstall:
	$(RM) $(ALL_PROGS:%=$(DESTDIR)$(PREFIX)/bin/%)
	PROGS='$(ALL_PROGS)' scripts/install-share --remove $(DESTDIR)$(PREFIX)/share

dist:
	scripts/dist $(B)/dist

static:
	+@CC='$(CC)' LDFLAGS='$(LDFLAGS)' scripts/static $(B)

clean:
	$(RM) -r $(B)

help:
	@cat scripts/help.txt

FORCE:
.PHONY: all tests deps demo traces check check-slurm golden bench fuzz fuzzers lint install uninstall dist static clean help
-include $(shell find $(B) -name '*.d' 2>/dev/null)

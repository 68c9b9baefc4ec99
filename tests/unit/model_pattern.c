/* SPDX-License-Identifier: MIT */
/* model/pattern.c: against Lua's own matcher, and the bound on the work. */
#include "model/priv.h"
#include "tests/unit/tap.h"

#define ROUNDS 60000

static uint64_t seed = 1;

static unsigned
rnd(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static const char *const pieces[] = { "a", "b", "_", ".", "%a", "%d", "%D",
	"[ab]", "[^a]", "[a-c_]", "[%d_]", "(a)", "(.-)", "(%a+)", "(%d*)",
	"(a(b?))", "%.", "]", "1" };
static const char *const tails[] = { "", "", "*", "+", "-", "?" };

static void
make_pattern(char *out)
{
	unsigned n = 1 + rnd(5);

	out[0] = '\0';
	if (rnd(4) == 0)
		strcat(out, "^");
	while (n-- > 0) {
		const char *p = pieces[rnd(sizeof pieces / sizeof *pieces)];

		strcat(out, p);
		if (p[0] != '(')
			strcat(out, tails[rnd(6)]);
	}
	if (rnd(4) == 0)
		strcat(out, "$");
}

/* What string.find gives: "2-5 [x] [y]", or "no". */
static void
by_lua(lua_State *L, const char *text, const char *pattern, struct buf *out)
{
	int top = lua_gettop(L), n;

	lua_getfield(L, 1, "find");
	lua_pushstring(L, text);
	lua_pushstring(L, pattern);
	if (lua_pcall(L, 2, LUA_MULTRET, 0) != LUA_OK) {
		buf_puts(out, "error");
	} else if (lua_isnil(L, top + 1)) {
		buf_puts(out, "no");
	} else {
		n = lua_gettop(L);
		buf_printf(out, "%d-%d", (int)lua_tointeger(L, top + 1),
		    (int)lua_tointeger(L, top + 2));
		for (int i = top + 3; i <= n; i++)
			buf_printf(out, " [%s]", lua_tostring(L, i));
	}
	buf_putc(out, '\0');
	lua_settop(L, top);
}

static void
by_us(const char *text, const char *pattern, struct buf *out)
{
	struct pattern_match m;
	const char *error = NULL;
	int r = pattern_find(str_of(text), str_of(pattern), 0, &m, &error);

	if (r < 0) {
		buf_puts(out, "error");
	} else if (r == 0) {
		buf_puts(out, "no");
	} else {
		buf_printf(out, "%d-%d", (int)m.start + 1, (int)m.end);
		for (int i = 0; i < m.ncaptures; i++)
			buf_printf(out, " [%.*s]", (int)m.captures[i].len,
			    text + m.captures[i].start);
	}
	buf_putc(out, '\0');
}

static void
compare(lua_State *L)
{
	struct buf a = { 0 }, b = { 0 };
	int wrong = 0, found = 0;

	for (int i = 0; i < ROUNDS; i++) {
		char pattern[128], text[16];
		unsigned n = rnd(10);

		make_pattern(pattern);
		for (unsigned k = 0; k < n; k++)
			text[k] = "abc_1.]"[rnd(7)];
		text[n] = '\0';
		a.len = b.len = 0;
		by_lua(L, text, pattern, &a);
		by_us(text, pattern, &b);
		found += a.p[0] >= '1' && a.p[0] <= '9';
		if (strcmp(a.p, b.p) != 0 && wrong++ < 5)
			diag("'%s' in '%s': %s, Lua: %s", pattern, text, b.p,
			    a.p);
	}
	ok(wrong == 0, "%d patterns as Lua has them, %d found", ROUNDS, found);
	ok(found > ROUNDS / 10, "many are found");
	buf_free(&a);
	buf_free(&b);
}

static void
fails(const char *pattern, const char *why)
{
	struct pattern_match m;
	const char *error = "";
	static char text[4096];

	memset(text, 'a', sizeof text);
	ok(pattern_find((struct str){ text, sizeof text }, str_of(pattern), 0,
	       &m, &error) < 0,
	    "%s is refused", pattern);
	is_str(error, why, "the reason");
}

int
main(void)
{
	lua_State *L = luaL_newstate();

	luaopen_string(L);
	compare(L);
	fails(".-b.-b.-b", "the pattern needs too many steps");
	fails("a*a*a*a*b", "the pattern needs too many steps");
	fails("[a", "the pattern lacks a ]");
	fails("a%", "the pattern ends with %");
	fails("a)", "the pattern has a ) without its (");
	fails("(a", "the pattern lacks a )");
	lua_close(L);
	done_testing();
}

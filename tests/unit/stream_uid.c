/* SPDX-License-Identifier: MIT */
/* Identities of events as text. */
#include "tests/unit/tap.h"

#include "stream/stream.h"

static void
reads(const char *text, bool good, uint64_t id, uint32_t inst)
{
	struct uid u;
	char back[UID_MAX];
	bool is_read = uid_read(str_of(text), &u);

	ok(is_read == good, "'%s' is %s uid", text, good ? "a" : "no");
	if (is_read && good) {
		ok(u.id == id && u.inst == inst, "its parts");
		ok(str_eq((struct str){ back, uid_put(back, u) },
		       inst == 0 && strchr(text, '.') != NULL
			   ? (struct str){ text, strlen(text) - 2 }
			   : str_of(text)),
		    "and back");
	}
}

static void
picks(const char *text, bool good, const char *what, bool yes, uint32_t src,
    struct uid uid)
{
	struct uid_pick p;
	bool is_read = uid_pick_read(str_of(text), &p);

	ok(is_read == good, "'%s' %s an event", text,
	    good ? "names" : "doesn't name");
	if (is_read && good)
		ok(uid_is_picked(&p, src, uid) == yes, "%s", what);
}

int
main(void)
{
	const struct uid u = { 12, 0 }, copy = { 12, 3 };

	ok(uid_hash(copy) !=
		uid_hash((struct uid){ 12 | UINT64_C(3) << 40, 0 }),
	    "a large id has not the key of an instance");
	ok(uid_hash((struct uid){ UINT64_C(1) << 40, 1 }) !=
		uid_hash((struct uid){ 0, 0 }),
	    "nor do both together");
	reads("0", true, 0, 0);
	reads("12", true, 12, 0);
	reads("12.3", true, 12, 3);
	reads("12.0", true, 12, 0);
	reads("4611686018427387903.4294967294", true,
	    UINT64_C(4611686018427387903), UINT32_MAX - 1);
	reads("4611686018427387904", false, 0, 0);
	reads("1.4294967295", false, 0, 0);
	reads("", false, 0, 0);
	reads(".", false, 0, 0);
	reads("1.", false, 0, 0);
	reads(".1", false, 0, 0);
	reads("1.2.3", false, 0, 0);
	reads("-1", false, 0, 0);
	reads("1e3", false, 0, 0);
	reads("1:2", false, 0, 0);

	picks("12", true, "of any source", true, 7, u);
	picks("12", true, "not its copy", false, 7, copy);
	picks("12.3", true, "the copy", true, 7, copy);
	picks("7:12", true, "of that source", true, 7, u);
	picks("7:12", true, "of that one only", false, 8, u);
	picks("7:12.3", true, "a copy of one source", true, 7, copy);
	picks(":12", false, NULL, false, 0, u);
	picks("7:", false, NULL, false, 0, u);
	picks("4294967295:1", false, NULL, false, 0, u);
	picks("a:1", false, NULL, false, 0, u);
	picks("Linear_*", false, NULL, false, 0, u);
	done_testing();
}

/* SPDX-License-Identifier: MIT */
/* Input: all its sources, and all damage to it. */
#include "tests/unit/io_help.h"

struct got {
	struct buf bytes;
	struct buf damage; /* "" for none */
	bool pad_ok, offsets_ok;
};

static bool
pad_is_zero(const struct in *in)
{
	for (int i = 0; i < IN_PAD; i++)
		if (in->end[i] != 0)
			return false;
	return true;
}

/* Reads all, leaving `tail` bytes unread as long as there is more to come. */
static struct got
read_all(struct in *in, size_t tail)
{
	struct got g = { .pad_ok = true, .offsets_ok = true };

	in_tolerate(in);
	do {
		size_t have = (size_t)(in->end - in->p);
		size_t use = have > tail ? have - tail : 0;

		g.pad_ok &= pad_is_zero(in);
		g.offsets_ok &= in_offset(in, in->p) == g.bytes.len;
		buf_put(&g.bytes, in->p, use);
		in->p += use;
		in_release(in);
	} while (in_more(in));
	g.pad_ok &= pad_is_zero(in) && in->eof;
	buf_put(&g.bytes, in->p, (size_t)(in->end - in->p));
	in->p = in->end;
	g.offsets_ok &= in_offset(in, in->p) == g.bytes.len && !in_more(in);
	if (in_damage(in) != NULL)
		buf_puts(&g.damage, in_damage(in));
	buf_putc(&g.damage, '\0');
	in_close(in);
	return g;
}

static void
got_free(struct got *g)
{
	buf_free(&g->bytes);
	buf_free(&g->damage);
}

static bool
is_whole(const struct got *g, struct str want)
{
	return g->pad_ok && g->offsets_ok && g->damage.p[0] == '\0' &&
	    str_eq(buf_str(&g->bytes), want);
}

static void
check_file(const char *what, struct str packed, struct str want)
{
	static const size_t tails[] = { 0, 1, 300, 5000, 65536, 65537, 700000 };
	const char *path = file_of("in", packed);
	bool all = true;

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		struct got g = read_all(in_open(path), tails[i]);

		if (!is_whole(&g, want)) {
			diag("tail %zu: %zu of %zu bytes, %s, pad %d, off %d",
			    tails[i], g.bytes.len, want.len, g.damage.p,
			    g.pad_ok, g.offsets_ok);
			all = false;
		}
		got_free(&g);
	}
	ok(all, "%s from a file, with tails", what);
}

static void
check_pipe(const char *what, struct str packed, struct str want, size_t piece)
{
	static const size_t tails[] = { 0, 300, 5000, 70000 };
	bool all = true;
	pid_t pid;

	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		int fd = pipe_of(packed, piece, &pid);
		struct got g = read_all(in_open_fd(fd, "pipe"), tails[i]);

		all &= is_whole(&g, want);
		got_free(&g);
		waitpid(pid, NULL, 0);
	}
	ok(all, "%s from a pipe, %zu bytes a write", what, piece);
}

static void
test_kinds(void)
{
	struct buf big = sample(3000000), small = sample(6000), gz = { 0 },
		   zst = { 0 }, page = sample(16384);

	check_file("plain", buf_str(&big), buf_str(&big));
	check_file("whole pages", buf_str(&page), buf_str(&page));
	check_file("nothing", STR(""), STR(""));
	check_file("one byte", STR("\x1f"), STR("\x1f"));
	pack_gzip(&gz, big.p, big.len, true);
	check_file("gzip", buf_str(&gz), buf_str(&big));
	pack_zstd(&zst, big.p, big.len);
	check_file("zstd", buf_str(&zst), buf_str(&big));
	check_pipe("plain", buf_str(&big), buf_str(&big), 70001);
	check_pipe("gzip", buf_str(&gz), buf_str(&big), 1000);
	check_pipe("zstd", buf_str(&zst), buf_str(&big), 1000);
	gz.len = zst.len = 0;
	pack_gzip(&gz, small.p, small.len, true);
	pack_zstd(&zst, small.p, small.len);
	check_pipe("plain", buf_str(&small), buf_str(&small), 1);
	check_pipe("gzip", buf_str(&gz), buf_str(&small), 1);
	check_pipe("zstd", buf_str(&zst), buf_str(&small), 1);
	check_pipe("nothing", STR(""), STR(""), 1);
	buf_free(&big);
	buf_free(&small);
	buf_free(&page);
	buf_free(&gz);
	buf_free(&zst);
}

/* Many small members: their edges fall on every edge of the raw buffer. */
static void
test_members(void)
{
	struct buf text = sample(900000), gz = { 0 }, zst = { 0 };
	size_t cut = gz.len;

	for (size_t i = 0; i < text.len; i += 300) {
		pack_gzip(&gz, text.p + i, 300, i % 7 == 0);
		pack_gzip(&gz, "", 0, false);
		pack_zstd(&zst, text.p + i, 300);
		buf_put(&zst, "\x53\x2a\x4d\x18\3\0\0\0abc", 11);
	}
	check_file("3000 members", buf_str(&gz), buf_str(&text));
	check_pipe("3000 members", buf_str(&gz), buf_str(&text), 777);
	check_file("3000 frames", buf_str(&zst), buf_str(&text));
	check_pipe("3000 frames", buf_str(&zst), buf_str(&text), 777);

	cut = gz.len;
	for (int i = 0; i < 5000; i++)
		buf_putc(&gz, '\0');
	check_file("zeros behind", buf_str(&gz), buf_str(&text));
	buf_putc(&gz, 'x');
	struct got g = read_all(in_open(file_of("in", buf_str(&gz))), 0);
	char want[100];

	snprintf(want, sizeof want,
	    "byte %zu: trailing data after the last gzip member", cut + 5000);
	is_str(g.damage.p, want, "zeros and more behind");
	ok(str_eq(buf_str(&g.bytes), buf_str(&text)), "and all data came");
	got_free(&g);

	gz.len = cut;
	buf_puts(&gz, "\x1f!");
	g = read_all(in_open(file_of("in", buf_str(&gz))), 0);
	snprintf(want, sizeof want,
	    "byte %zu: trailing data after the last gzip member", cut);
	is_str(g.damage.p, want, "trailing data");
	got_free(&g);

	cut = zst.len;
	buf_puts(&zst, "trailing");
	g = read_all(in_open(file_of("in", buf_str(&zst))), 0);
	snprintf(want, sizeof want,
	    "byte %zu: trailing data after the last zstd frame", cut);
	is_str(g.damage.p, want, "trailing data behind zstd");
	got_free(&g);
	buf_free(&text);
	buf_free(&gz);
	buf_free(&zst);
}

/* All bytes fit into the pipe, so no writer is needed. */
static int
short_pipe(struct str bytes)
{
	int fds[2];

	if (pipe(fds) != 0 || write_all(fds[1], bytes.p, bytes.len) != 0)
		bail_out("pipe");
	close(fds[1]);
	return fds[0];
}

/* At `edge` a first member ends, so a cut there is no damage. */
static void
check_prefixes(const char *what, struct str packed, struct str text,
    size_t edge, size_t magic)
{
	bool all = true;

	for (size_t n = magic; n <= packed.len; n++) {
		struct str part = { packed.p, n };
		bool good = n == edge || n == packed.len;

		for (int piped = 0; piped < 2; piped++) {
			struct in *in = piped
			    ? in_open_fd(short_pipe(part), "pipe")
			    : in_open(file_of("in", part));
			struct got g = read_all(in, 0);
			bool as_said = (g.damage.p[0] == '\0') == good &&
			    g.pad_ok && str_starts(text, buf_str(&g.bytes));

			if (!good)
				as_said &=
				    strstr(g.damage.p, "end too early") != NULL;
			if (!as_said)
				diag("%zu bytes: %s", n, g.damage.p);
			all &= as_said;
			got_free(&g);
		}
	}
	ok(all, "%s: every cut is seen", what);
}

static void
check_flips(const char *what, struct buf *packed, struct str text)
{
	bool all = true;

	for (size_t i = 0; i < 3 * packed->len; i++) {
		char *p = packed->p + i / 3;
		char old = *p;

		*p = (char)(old ^ (i % 3 == 0 ? 1 : i % 3 == 1 ? 128 : 255));
		struct in *in = in_open(file_of("in", buf_str(packed)));
		bool plain = in->kind == IN_PLAIN;
		struct got g = read_all(in, 0);

		if (!plain && g.damage.p[0] == '\0' &&
		    !str_eq(buf_str(&g.bytes), text)) {
			diag("byte %zu: %d bytes and no failure", i / 3,
			    (int)g.bytes.len);
			all = false;
		}
		all &= g.pad_ok;
		got_free(&g);
		*p = old;
	}
	ok(all, "%s: every flipped byte is harmless or seen", what);
}

static void
test_damage(void)
{
	struct buf text = sample(500), gz = { 0 }, zst = { 0 };
	size_t gz_edge, zst_edge;

	pack_gzip(&gz, text.p, 300, true);
	gz_edge = gz.len;
	pack_gzip(&gz, text.p + 300, 200, false);
	pack_zstd(&zst, text.p, 300);
	zst_edge = zst.len;
	pack_zstd(&zst, text.p + 300, 200);
	check_prefixes("gzip", buf_str(&gz), buf_str(&text), gz_edge, 2);
	check_prefixes("zstd", buf_str(&zst), buf_str(&text), zst_edge, 4);
	check_flips("gzip", &gz, buf_str(&text));
	check_flips("zstd", &zst, buf_str(&text));
	buf_free(&text);
	buf_free(&gz);
	buf_free(&zst);
}

int
main(void)
{
	make_folder();
	test_kinds();
	test_members();
	test_damage();
	remove_folder();
	done_testing();
}

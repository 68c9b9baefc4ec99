/* SPDX-License-Identifier: MIT */
/* Which files of a folder are opened, and in which order. */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/unit/child.h"
#include "tests/unit/tap.h"

#include "stream/stream.h"

static char dir[] = "/tmp/stream_names.XXXXXX";

static const char *const files[] = { "rank10.json", "rank2.json.gz", "a.csv",
	"sub/rank1.tl", ".hidden.json", "runs/2_results.db.gz",
	"runs/1_kernel_trace.csv", "runs/1_results.pftrace",
	"csv/agent_info.csv", "csv/kernel_trace.csv", "jax/h.xplane.pb.gz",
	"jax/h.trace.json.gz", "dumps/nccl_trace_rank_2",
	"dumps/nccl_trace_rank_10", "dumps/rank_3" };

static const char *const subfolders[] = { "sub", "none", "runs", "csv", "jax",
	"dumps", "." };

static void
name_of(char path[128], const char *name)
{
	(void)snprintf(path, 128, "%s/%s", dir, name);
}

static void
make_files(void)
{
	char path[128];

	if (mkdtemp(dir) == NULL)
		abort();
	for (size_t i = 0; subfolders[i][0] != '.'; i++) {
		name_of(path, subfolders[i]);
		(void)mkdir(path, 0700);
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		name_of(path, files[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
}

static void
remove_files(void)
{
	char path[128];

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		name_of(path, files[i]);
		(void)unlink(path);
	}
	for (size_t i = 0; i < sizeof subfolders / sizeof *subfolders; i++) {
		name_of(path, subfolders[i]);
		(void)rmdir(path);
	}
	(void)rmdir(dir);
}

/* The paths below the folder, with blanks between. */
static void
lists(const char *name, bool deep, const char *expected)
{
	char path[128];
	struct buf b = { 0 };
	path_vec v = { 0 };

	name_of(path, name);
	stream_paths(&v, path, deep);
	for (size_t i = 0; i < v.n; i++) {
		buf_printf(
		    &b, "%s%s", i > 0 ? " " : "", v.v[i] + strlen(dir) + 1);
		free(v.v[i]);
	}
	buf_putc(&b, '\0');
	is_str(b.p, expected, "'%s'%s", name, deep ? ", folders too" : "");
	buf_free(&b);
	vec_free(&v);
}

static void
list_nothing(void)
{
	char path[128];
	path_vec v = { 0 };

	name_of(path, "none");
	stream_paths(&v, path, true);
}

static void
folders(void)
{
	make_files();
	lists("", false, "rank2.json.gz rank10.json");
	lists("sub", true, "sub/rank1.tl");
	lists("jax", false, "jax/h.xplane.pb.gz");
	lists("runs", false, "runs/2_results.db.gz");
	lists("csv", false, "csv/kernel_trace.csv");
	lists(
	    "dumps", false, "dumps/nccl_trace_rank_2 dumps/nccl_trace_rank_10");
	lists("a.csv", false, "a.csv");
	lists("gone.json", false, "gone.json");
	is_int(child_run(list_nothing).status, 1, "a folder without any");
	remove_files();
}

int
main(void)
{
	static const char *const ours[] = { "a.json", "a.json.gz", "a.json.zst",
		"a.ndjson", "a.ndjson.gz", "a.ndjson.zst", "a.tl", "a.tl.gz",
		"a.tl.zst", "rank.0.pt.trace.json", "a.txt.json" };
	static const char *const others[] = { "", ".", "..", ".json", ".a.json",
		".json.gz", ".gz", "a.gz", "json", "ajson", "a.jsonl",
		"a.json.gz.zst", "a.json.gz~", "a.JSON", "a.tl.tmp", "a.csv" };

	for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
		ok(stream_is_name(str_of(ours[i]), 1), "'%s' is", ours[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		ok(!stream_is_name(str_of(others[i]), 1), "'%s' is not",
		    others[i]);
	folders();
	done_testing();
}

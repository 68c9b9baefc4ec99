/* SPDX-License-Identifier: MIT */
/* sink/laws.c: a table is not printed if its rows do not add up to records. */
#include "sink/plan.h"
#include "tests/unit/tap.h"

#include <sys/wait.h>
#include <unistd.h>

struct one {
	struct sink_record rec;
	int64_t ns;
};

static const struct sink_measure measures[] = {
	{ offsetof(struct one, ns), NULL, false },
};
static const struct sink_def def = { .measures = measures,
	.nmeasures = 1,
	.once = 1,
	.record_size = sizeof(struct one) };
static const struct sink_table table = { .name = "t" };
static const struct sink_plan of_table = { .table = &table, .name = "t" };

static char text[512];

/*
 * The error of two rows of three records of 2, 3 and 5 ns of one source, after
 * spoil changed them; its GPU events take work_ns. "": no error.
 */
static const char *
end_of(int64_t work_ns, void (*spoil)(struct sink_groups *))
{
	static const int64_t ns[] = { 2, 3, 5 };
	uint64_t key[SINK_GROUP_WORDS] = { 0 };
	struct sink s = { .def = &def };
	struct sink_groups gs = { 0 };
	int fds[2], status;
	ssize_t n;

	vec_push(&s.sources.list, ((struct sink_source){ .work_ns = work_ns }));
	for (size_t i = 0; i < 3; i++) {
		const struct one one = { .ns = ns[i] };
		struct sink_group *gr;

		key[1] = i == 2;
		gr = sink_groups_add(&gs, key);
		gr->sums[0] += ns[i];
		sink_total_add(&s, &of_table, &gs, &one);
	}
	if (spoil != NULL)
		spoil(&gs);
	text[0] = '\0';
	if (pipe(fds) < 0)
		return text;
	fflush(stdout);
	if (fork() == 0) {
		dup2(fds[1], STDERR_FILENO);
		sink_keep_laws(&s, &of_table, &gs);
		_exit(0);
	}
	close(fds[1]);
	n = read(fds[0], text, sizeof text - 1);
	close(fds[0]);
	text[n > 0 ? n : 0] = '\0';
	wait(&status);
	if (!WIFEXITED(status) ||
	    WEXITSTATUS(status) != (n > 0 ? EXIT_NO_ANSWER : 0))
		snprintf(text, sizeof text, "ended with %d", status);
	sink_groups_free(&gs);
	vec_free(&s.sources.list);
	return text;
}

static void
lose_row(struct sink_groups *gs)
{
	gs->list.n--;
}

static void
count_twice(struct sink_groups *gs)
{
	gs->list.v[0].sums[0] += 3;
}

int
main(void)
{
	is_str(end_of(10, NULL), "", "rows of all records");
	is_str(end_of(INT64_MAX, NULL), "", "of a part of the GPU events");
	ok(strstr(end_of(10, lose_row),
	       "table t: records in rows 2 is not all records 3: a defect") !=
		NULL,
	    "a row that is lost");
	ok(strstr(end_of(10, count_twice),
	       "table t: the rows' sum 13 is not the records' 10: a defect") !=
		NULL,
	    "a number that counts twice");
	ok(strstr(end_of(9, NULL),
	       "the rows' GPU time 10 is more than that of all GPU events 9") !=
		NULL,
	    "GPU time in two rows");
	done_testing();
}

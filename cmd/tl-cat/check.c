/* SPDX-License-Identifier: MIT */
/*
 * check: reads all, says whether it is whole. A damaged stream ends the program
 * that reads it, so of several files each gets a process.
 */
#include "cat.h"

#include <unistd.h>

static int
check_file(const char *path)
{
	struct stream_in *in = stream_open(path, NULL, WANT_STREAM);
	uint64_t nsources = 0;
	struct out *out;
	enum item item;

	while ((item = stream_next(in)) != ITEM_END) {
		if (item == ITEM_SOURCE)
			nsources += in->source.is_final;
		else if (item == ITEM_EVENT &&
		    !event_is_sound(in->dict, &in->ev))
			die("%s: event %" PRIu64 ": its values are malformed",
			    in->name, in->ev.uid.id);
	}
	out = out_open(NULL);
	out_printf(out,
	    "%s: whole, %" PRIu64 " event%s, %" PRIu64 " source%s\n", in->name,
	    in->nevents, in->nevents == 1 ? "" : "s", nsources,
	    nsources == 1 ? "" : "s");
	out_finish(out);
	stream_close(in);
	return exit_status();
}

static int
check_apart(const char *path)
{
	pid_t pid = child_fork();
	int status;

	if (pid == 0)
		_exit(check_file(path));
	status = child_wait(pid);
	if (child_signal(status) == 0)
		return status;
	report(MSG_CHILD_KILLED, path, child_signal(status));
	return EXIT_NO_ANSWER;
}

int
cat_check(const struct settings *set)
{
	int worst = EXIT_DONE;

	if (set->dest.path != NULL || set->dest.zstd)
		die_usage("--check writes to standard output only");
	if (set->files[1] == NULL)
		return check_file(set->files[0]);
	for (size_t i = 0; set->files[i] != NULL; i++) {
		int status = check_apart(set->files[i]);

		if (status == EXIT_NO_ANSWER || worst == EXIT_DONE)
			worst = status;
	}
	return worst;
}

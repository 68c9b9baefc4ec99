/* SPDX-License-Identifier: MIT */
/* The command line of tl-gen. */
#include "gen.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	OPT_LAYERS = 256,
	OPT_RANKS,
	OPT_RANK,
	OPT_BACKEND,
	OPT_STREAMS,
	OPT_DEVICES,
	OPT_GRAPH,
	OPT_CAPTURE,
	OPT_CONV,
	OPT_MOE,
	OPT_NO_PYTHON,
	OPT_NO_SHAPES,
	OPT_NO_FLOWS,
	OPT_NO_MEMORY,
	OPT_METADATA_LAST,
	OPT_BARE_ARRAY,
	OPT_PRETTY,
	OPT_MINIFIED,
	OPT_GZIP,
	OPT_RECOMPUTE,
	OPT_FP_EPOCH,
	OPT_INT_US,
	OPT_PLANT,
	OPT_JITTER,
	OPT_CODE,
	OPT_LATE_RANK,
	OPT_SLOW_LINK,
	OPT_DROP,
	OPT_SKEW,
	OPT_QUIRK,
	OPT_LIST_QUIRKS,
	OPT_ROCPROF,
	OPT_PROCESSES,
	OPT_BATCH,
	OPT_SEQ_LEN,
	OPT_HIDDEN,
};

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "steps", required_argument, NULL, 'n' },
	{ "layers", required_argument, NULL, OPT_LAYERS },
	{ "events", required_argument, NULL, 'e' },
	{ "size", required_argument, NULL, 'S' },
	{ "ranks", required_argument, NULL, OPT_RANKS },
	{ "rank", required_argument, NULL, OPT_RANK },
	{ "backend", required_argument, NULL, OPT_BACKEND },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "devices", required_argument, NULL, OPT_DEVICES },
	{ "graph", no_argument, NULL, OPT_GRAPH },
	{ "capture", no_argument, NULL, OPT_CAPTURE },
	{ "conv", no_argument, NULL, OPT_CONV },
	{ "moe", no_argument, NULL, OPT_MOE },
	{ "no-python", no_argument, NULL, OPT_NO_PYTHON },
	{ "no-shapes", no_argument, NULL, OPT_NO_SHAPES },
	{ "no-flows", no_argument, NULL, OPT_NO_FLOWS },
	{ "no-memory", no_argument, NULL, OPT_NO_MEMORY },
	{ "metadata-last", no_argument, NULL, OPT_METADATA_LAST },
	{ "bare-array", no_argument, NULL, OPT_BARE_ARRAY },
	{ "pretty", no_argument, NULL, OPT_PRETTY },
	{ "minified", no_argument, NULL, OPT_MINIFIED },
	{ "gzip", no_argument, NULL, OPT_GZIP },
	{ "recompute", no_argument, NULL, OPT_RECOMPUTE },
	{ "fp-epoch", no_argument, NULL, OPT_FP_EPOCH },
	{ "int-us", no_argument, NULL, OPT_INT_US },
	{ "plant", required_argument, NULL, OPT_PLANT },
	{ "jitter", required_argument, NULL, OPT_JITTER },
	{ "code", required_argument, NULL, OPT_CODE },
	{ "late-rank", required_argument, NULL, OPT_LATE_RANK },
	{ "slow-link", required_argument, NULL, OPT_SLOW_LINK },
	{ "drop-collective", required_argument, NULL, OPT_DROP },
	{ "clock-skew", required_argument, NULL, OPT_SKEW },
	{ "quirk", required_argument, NULL, 'q' },
	{ "list-quirks", no_argument, NULL, OPT_LIST_QUIRKS },
	{ "rocprof", no_argument, NULL, OPT_ROCPROF },
	{ "processes", required_argument, NULL, OPT_PROCESSES },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "seq-len", required_argument, NULL, OPT_SEQ_LEN },
	{ "hidden", required_argument, NULL, OPT_HIDDEN },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
    "tl-gen: write a made-up GPU trace, the same for the same options\n"
    "usage: tl-gen [-s SEED] [-n STEPS | -e EVENTS | -S BYTES] [-o FILE]\n"
    "       tl-gen --ranks N -d DIR   (DIR/rank-<r>.json[.gz])\n"
    "\n"
    "size     -s --seed N, -n --steps N (3), --layers N (4),\n"
    "         -e --events N, -S --size N[k|M|G]: about that much, whole steps\n"
    "         --batch N (4), --seq-len N (512), --hidden N (1024)\n"
    "job      --backend rocm|cuda (rocm), --ranks N (1), --rank R (0),\n"
    "         --streams N (1), --devices N (8), --graph, --capture,\n"
    "         --conv, --moe, --recompute\n"
    "content  --no-python, --no-shapes, --no-flows, --no-memory\n"
    "form     -o FILE (.gz compresses), -d DIR, --gzip, --metadata-last,\n"
    "         --bare-array, --pretty, --minified, --fp-epoch, --int-us\n"
    "planted  --late-rank RANK=NS, --slow-link FACTOR, --clock-skew RANK=NS,\n"
    "         --drop-collective RANK:N, and what a comparison has to find:\n"
    "         --plant CHANGE[@STEP[.LAYER]], '*' for any step; CHANGE is\n"
    "           slow=OP:PERCENT  its kernels take that much longer\n"
    "           add=OP           another op, planted::op, after it\n"
    "           wrap=OP          an op around it, planted::wrapper\n"
    "           rename=OP        its kernels are of other libraries\n"
    "           fuse             dropout and add are one op\n"
    "           swap             aten::sin comes before aten::cos\n"
    "noise    --jitter PERCENT: kernels take up to that much longer; with 0\n"
    "         all take their time exactly, whatever is planted elsewhere\n"
    "         --code lines|folders|files: Python frames and addresses as "
    "after\n"
    "         an edit, in other folders too, of other files too\n"
    "quirks   -q --quirk NAME (repeat), --list-quirks\n"
    "rocprof  --rocprof: rocprofv3's JSON; --processes N (1)\n"
    "\n"
    "example  tl-gen -S 1G --ranks 8 --rank 3 -o rank3.json.gz\n";

static int64_t
whole(const char *option, const char *arg, int64_t min, int64_t max)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(arg, &end, 10);
	if (errno != 0 || end == arg || *end != '\0' || v < min || v > max)
		usage(option, arg);
	return v;
}

static int64_t
bytes(const char *arg)
{
	static const char units[] = "kMG";
	char *end;
	long long v = strtoll(arg, &end, 10);
	const char *u = *end == '\0' ? NULL : strchr(units, *end);

	if (end == arg || v < 1 || v > 1000000 * 1000000LL ||
	    (*end != '\0' && (u == NULL || end[1] != '\0')))
		usage("size", arg);
	for (; u != NULL && u >= units; u--)
		v *= 1000;
	return v;
}

/* A factor with up to three decimals, times 1000. */
static int64_t
milli(const char *option, const char *arg)
{
	int64_t v = 0;
	int decimals = -1;
	const char *p = arg;

	for (; *p != '\0'; p++) {
		if (*p == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*p < '0' || *p > '9' || decimals == 3 || v > 1000000)
			usage(option, arg);
		v = v * 10 + (*p - '0');
		decimals += decimals >= 0;
	}
	if (p == arg)
		usage(option, arg);
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		v *= 10;
	return v;
}

static void
plant(const char *option, const char *arg, char sep, struct plant *p, int *n,
    int64_t min)
{
	char *end;

	if (*n == MAX_PLANTS)
		die("--%s: at most %d of them", option, MAX_PLANTS);
	p[*n].rank = strtoll(arg, &end, 10);
	if (end == arg || *end != sep || p[*n].rank < 0)
		usage(option, arg);
	p[(*n)++].value = whole(option, end + 1, min, 1000000000000);
}

static enum code
code(const char *arg)
{
	static const char *const names[] = { "same", "lines", "folders",
		"files" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (strcmp(arg, names[i]) == 0)
			return (enum code)i;
	}
	usage("code", arg);
}

static bool
set_flag(struct conf *cf, int ch)
{
	switch (ch) {
	case OPT_GRAPH: cf->graph = true; break;
	case OPT_CAPTURE: cf->capture = true; break;
	case OPT_CONV: cf->conv = true; break;
	case OPT_MOE: cf->moe = true; break;
	case OPT_NO_PYTHON: cf->no_python = true; break;
	case OPT_NO_SHAPES: cf->no_shapes = true; break;
	case OPT_NO_FLOWS: cf->no_flows = true; break;
	case OPT_NO_MEMORY: cf->no_memory = true; break;
	case OPT_METADATA_LAST: cf->metadata_last = true; break;
	case OPT_BARE_ARRAY: cf->bare_array = true; break;
	case OPT_PRETTY: cf->pretty = true; break;
	case OPT_MINIFIED: cf->minified = true; break;
	case OPT_GZIP: cf->gzip = true; break;
	case OPT_RECOMPUTE: cf->recompute = true; break;
	case OPT_FP_EPOCH: cf->fp_epoch = true; break;
	case OPT_INT_US: cf->int_us = true; break;
	case OPT_ROCPROF: cf->rocprof = true; break;
	default: return false;
	}
	return true;
}

static bool
set_number(struct conf *cf, int ch, const char *arg)
{
	switch (ch) {
	case 's': cf->seed = strtoull(arg, NULL, 10); break;
	case 'n': cf->steps = whole("steps", arg, 1, INT32_MAX); break;
	case 'e': cf->events = whole("events", arg, 1, INT64_MAX / 1024); break;
	case 'S': cf->size = bytes(arg); break;
	case OPT_LAYERS: cf->layers = whole("layers", arg, 1, 2000); break;
	case OPT_RANKS: cf->ranks = whole("ranks", arg, 1, MAX_RANKS); break;
	case OPT_RANK: cf->rank = whole("rank", arg, 0, MAX_RANKS - 1); break;
	case OPT_STREAMS:
		cf->streams = whole("streams", arg, 1, MAX_STREAMS - 3);
		break;
	case OPT_DEVICES: cf->devices = whole("devices", arg, 1, 64); break;
	case OPT_PROCESSES:
		cf->processes = whole("processes", arg, 1, 1024);
		break;
	case OPT_BATCH: cf->batch = whole("batch", arg, 1, 4096); break;
	case OPT_SEQ_LEN: cf->seq_len = whole("seq-len", arg, 1, 65536); break;
	case OPT_HIDDEN: cf->hidden = whole("hidden", arg, 16, 32768); break;
	default: return false;
	}
	return true;
}

static void
set_other(struct conf *cf, int ch, char *arg)
{
	switch (ch) {
	case 'o': cf->out = arg; break;
	case 'd': cf->dir = arg; break;
	case OPT_BACKEND:
		cf->cuda = strcmp(arg, "cuda") == 0;
		if (!cf->cuda && strcmp(arg, "rocm") != 0)
			usage("backend", arg);
		break;
	case OPT_PLANT: plant_parse(cf, arg); break;
	case OPT_JITTER: cf->jitter = milli("jitter", arg); break;
	case OPT_CODE: cf->code = code(arg); break;
	case OPT_SLOW_LINK: cf->link_milli = milli("slow-link", arg); break;
	case OPT_LATE_RANK:
		plant("late-rank", arg, '=', cf->late, &cf->nlate, 0);
		break;
	case OPT_DROP:
		plant("drop-collective", arg, ':', cf->drop, &cf->ndrop, 0);
		break;
	case OPT_SKEW:
		plant("clock-skew", arg, '=', cf->skew, &cf->nskew,
		    -1000000000000);
		break;
	case 'q':
		if (!quirk_add(cf, arg))
			usage("quirk", arg);
		break;
	case OPT_LIST_QUIRKS: quirk_list(); exit(0);
	case 'h': fputs(help, stdout); exit(0);
	default: fputs("try tl-gen --help\n", stderr); exit(2);
	}
}

void
conf_parse(struct conf *cf, int argc, char *argv[])
{
	int ch;

	while ((ch = getopt_long(
		    argc, argv, "s:n:e:S:o:d:q:h", options, NULL)) != -1) {
		if (!set_flag(cf, ch) && !set_number(cf, ch, optarg))
			set_other(cf, ch, optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "tl-gen: operand '%s'\ntry tl-gen --help\n",
		    argv[optind]);
		exit(2);
	}
	if (cf->rank >= cf->ranks)
		die("--rank %" PRId64 ": there are %" PRId64 " ranks", cf->rank,
		    cf->ranks);
	for (int i = 0; cf->rocprof && i < cf->nchange; i++) {
		if (cf->change[i].kind == CHANGE_RENAME)
			die("--plant rename: not with --rocprof");
	}
	if (cf->hidden % cf->heads != 0)
		die("--hidden: not a multiple of %" PRId64, cf->heads);
}

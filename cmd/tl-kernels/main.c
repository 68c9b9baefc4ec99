/* SPDX-License-Identifier: MIT */
/*
 * tl-kernels: which kernels cost the GPU time?
 *
 * A sink over a tree: it keeps a record of each kernel, with the op that
 * launched it, and prints groups of them.
 */
#include <stdio.h>

#include "table/catalogue.h"

#include "cmd/tl-kernels/kernels.h"

#define OPT_BINS (OPT_LONG + 0)
#define OPT_BY (OPT_LONG + 1)
#define OPT_KEEP_UNOWNED (OPT_LONG + 2)
#define OPT_LINKED_ONLY (OPT_LONG + 3)
#define OPT_LIST_TABLES (OPT_LONG + 4)
#define OPT_SHORT (OPT_LONG + 5)
#define OPT_TABLE_NAME (OPT_LONG + 6)
#define OPT_ARCH (OPT_LONG + 7)
#define OPT_PSEUDO (OPT_LONG + 8)
#define OPT_ROOF (OPT_LONG + 9)

#define NBINS 100
#define NBINS_MAX 1000000
#define SHORT_NS 10000

static const struct opt options[] = {
	{ OPT_ARCH, "arch", "GPU", "auto, a name or a JSON file" },
	{ OPT_BINS, "bins", "N", "bins of short_kernel_histogram" },
	{ OPT_BY, "by", "WHAT",
	    "name, launch-config, op, op,args,kernel or event" },
	{ OPT_KEEP_UNOWNED, "keep-unowned", NULL,
	    "short kernels also without op or arguments" },
	{ OPT_LINKED_ONLY, "linked-only", NULL,
	    "only kernels whose launch is in the trace" },
	{ OPT_LIST_TABLES, "list-tables", NULL, "say which tables there are" },
	{ OPT_PSEUDO, "pseudo-ops", NULL,
	    "ops for the steps that one op hides, see tl-graft" },
	{ OPT_ROOF, "roof", "ROOF", "peak, or achievable (measured)" },
	{ OPT_SHORT, "short", "TIME", "a kernel below TIME is short (10us)" },
	{ OPT_TABLE_NAME, "table", "NAME", "the table of this name" },
	OPT_BUCKET,
	OPT_MODELS,
	OPT_SELECT,
	OPT_TABLE,
	{ 'v', "verbose", NULL, "a summary on stderr" },
	OPT_END,
};

static const struct about about = {
	"which kernels cost the GPU time",
	"[OPTIONS] [FILE...]",
	"tl-kernels --top 20 trace.json.gz",
};

static const char *const by_words[] = {
	[BY_NAME] = "name",
	[BY_CONFIG] = "launch-config",
	[BY_OP] = "op",
	[BY_ARGS] = "op,args,kernel",
	[BY_EVENT] = "event",
	[BY_EVENT + 1] = NULL,
};

static void
check_kernels(const struct settings *set, const struct kernels *k)
{
	const char *path = k->recordings.path;
	const struct sink_source sum = sink_sources_sum(&k->recordings);

	if (k->list.n > 0)
		return;
	sink_sources_check(&k->recordings);
	if (sum.ngpu == 0)
		die_nothing(MSG_NO_GPU_EVENTS, path, k->nevents);
	if (set->linked_only && sum.nunlinked == sum.ngpu)
		die_nothing(MSG_NO_LINKED_GPU_EVENTS, path, sum.nunlinked);
	if (select_by_launch(&set->select) && sum.nunlinked > 0)
		die_nothing(
		    MSG_NO_MATCH_BY_LAUNCH, path, sum.ngpu, sum.nunlinked);
	die_nothing(MSG_NO_MATCH, path, sum.ngpu);
}

static void
summarise(const struct kernels *k)
{
	sink_sources_note(&k->recordings, "kernels counted");
	note_cost("%" PRIu64 " events", k->nevents);
}

static void
take_option(
    struct settings *set, struct kernels *k, const struct optparse *op, int ch)
{
	switch (ch) {
	case OPT_ARCH: set->arch = op->arg; break;
	case OPT_PSEUDO: set->pseudo_ops = true; break;
	case OPT_ROOF: set->roof = (enum roof)opt_word(op, roof_words); break;
	case OPT_BINS: set->nbins = opt_int(op, 1, NBINS_MAX); break;
	case OPT_BY: set->by = (enum by)opt_word(op, by_words); break;
	case OPT_KEEP_UNOWNED: set->keep_unowned = true; break;
	case OPT_LINKED_ONLY: set->linked_only = true; break;
	case OPT_LIST_TABLES: set->list = true; break;
	case OPT_SHORT: set->short_ns = opt_time(op); break;
	case OPT_TABLE_NAME: set->table = op->arg; break;
	case OPT_MODELS_FILE: models_load(k->models, op->arg); break;
	case 'v': set->verbose = true; break;
	default:
		if (!bucket_opt(&set->rules, op, ch) &&
		    !select_opt(&set->select, op, ch))
			(void)table_dest_opt(&set->dest, op, ch);
		break;
	}
}

static void
check_settings(struct settings *set)
{
	if (set->select.kinds != 0 &&
	    (set->select.kinds & KIND_BIT(KIND_KERNEL)) == 0)
		die_usage("option '--kind' needs kernel: the tables are about "
			  "kernels");
	tables_choose(set);
	set->select.late_ranks = true;
	(void)table_dest_details(&set->dest);
	tables_check(set);
}

int
main(int argc, char *argv[])
{
	struct settings set = {
		.arch = "auto", .nbins = NBINS, .short_ns = SHORT_NS
	};
	struct kernels k = { .set = &set };
	struct optparse op;
	const char *path;
	int ch;

	opt_start(&op, argc, argv, &about, options);
	k.models = models_create();
	while ((ch = opt_next(&op)) != -1)
		take_option(&set, &k, &op, ch);
	if (set.list) {
		sheets_list("tl-kernels");
		models_destroy(k.models);
		return EXIT_DONE;
	}
	check_settings(&set);
	if (strcmp(set.arch, "auto") != 0)
		k.arch = arch_load(k.models, set.arch, STR(""));

	k.strings = strings_create();
	while ((path = opt_file(&op)) != NULL)
		kernels_read_file(&k, &set, path);
	kernels_finish(&k);
	check_kernels(&set, &k);
	tables_print(&set, &k);
	if (set.verbose)
		summarise(&k);
	kernels_free(&k);
	strings_destroy(k.strings);
	select_free(&set.select);
	bucket_free(&set.rules);
	return exit_status();
}

/* SPDX-License-Identifier: MIT */
/*
 * pseudo: rules, in files of op models, that add ops to a tree, where one op
 * hides several steps with models of their own. A rule only reads the tree and
 * requests actions; the tree's owner performs them.
 *
 *	pseudo_start(ms, &forest);
 *	... pseudo_run(ms, pseudo_rules(ms, KIND_OP, name), event, act, arg) ...
 */
#ifndef TL_MODEL_PSEUDO_H
#define TL_MODEL_PSEUDO_H

#include "model/model.h"
#include "trace/forest.h"

struct tree_arg {
	struct str key;
	struct model_value val; /* a text, integer or boolean */
};

/* An action requested by a rule; texts live until act() returns. */
enum tree_what {
	TREE_WRAP,          /* insert an op above the event */
	TREE_WRAP_CHILDREN, /* insert an op below the event */
	TREE_WRAP_LAUNCH,   /* insert an op above the launch of a GPU event, and
	                     * that alone */
	TREE_RENAME,
	TREE_SET, /* set an argument of the event */
};
struct tree_action {
	enum tree_what what;
	uint32_t event;
	uint32_t from;          /* the new op has this event's arguments ... */
	struct str name;        /* ... and its name */
	struct str dims, types; /* replace those arguments, if set */
	const struct tree_arg *args;
	size_t nargs;
};
/* False: impossible here. */
typedef bool tree_act_fn(void *arg, const struct tree_action *a);

/* The rules for events of this kind and name, as bits; 0: none. */
uint64_t pseudo_rules(const struct models *ms, unsigned kind, struct str name);
/* Starts another tree; it is read until the next call. */
void pseudo_start(struct models *ms, struct forest *tree);
/* Runs rules on an event; act() gets the actions of those that succeed. */
void pseudo_run(struct models *ms, uint64_t rules, uint32_t event,
    tree_act_fn *act, void *arg);

struct pseudo_stats {
	uint64_t nfailed, nown_failed; /* own: of rules of the user */
	struct str reason;             /* of the first failure */
};
struct pseudo_stats pseudo_stats(const struct models *ms);

#endif

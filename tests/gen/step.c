/* SPDX-License-Identifier: MIT */
/* A training step: its batch, forward and backward, the optimizer, graphs. */
#include "gen.h"

#include <stdlib.h>
#include <string.h>

enum { GRAPH_PER_LAYER = 9 };

static void foreach (
    struct sim *s, const char *name, const char *sig, enum kid k)
{
	int64_t elems = 12 * s->cf->layers * s->cf->hidden * s->cf->hidden;

	py_chatter(s, 24);
	py_builtin(s, name + strlen("aten::"), "type");
	op_begin(s, name, sig, OP_PLAIN);
	for (int64_t i = 0; i < 1 + s->cf->layers / 4; i++)
		elementwise(s, k, elems / (1 + s->cf->layers / 4), 3);
	op_end(s);
	py_end(s);
}

static void
optimizer(struct sim *s)
{
	sim_region(s, 4);
	py_begin(s, "torch/optim/optimizer.py(465): wrapper");
	ann_begin(s, "Optimizer.step#AdamW.step", true);
	py_begin(s, "torch/optim/adamw.py(220): step");
	collective(s, COLL_REDUCESCATTER, PG_DEFAULT,
	    s->cf->ranks * s->cf->hidden * 64, true);
	py_begin(s, "torch/optim/adam.py(545): _multi_tensor_adamw");
	foreach (s, "aten::_foreach_add_", "*12f: =1", K_FE_ADD)
		;
	foreach (
	    s, "aten::_foreach_mul_", "*12f:H,H =0.99990000000000001", K_FE_MUL)
		;
	foreach (s, "aten::_foreach_lerp_", "*12f:H,H *12b:H,H =0.1", K_FE_LERP)
		;
	foreach (s, "aten::_foreach_mul_", "*12f:H,H =0.999", K_FE_MUL)
		;
	foreach (s, "aten::_foreach_addcmul_",
	    "*12f:H,H *12b:H,H *12b:H,H =0.001", K_FE_ADDCMUL)
		;
	foreach (s, "aten::_foreach_sqrt", "*12f:H,H", K_FE_SQRT)
		;
	foreach (s, "aten::_foreach_addcdiv_",
	    "*12f:H,H *12f:H,H *12f:H,H =-0.0003", K_FE_ADDCDIV)
		;
	py_end(s);
	collective(s, COLL_ALLGATHER, PG_DEFAULT,
	    s->cf->ranks * s->cf->hidden * 64, true);
	py_end(s);
	ann_end(s);
	py_end(s);
}

static void
load_batch(struct sim *s)
{
	sim_region(s, 1);
	py_begin(s, "torch/utils/data/dataloader.py(628): __next__");
	ann_begin(s,
	    "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	    false);
	for (int i = 0; i < 4; i++) {
		py_leaf(s, "torch/utils/data/_utils/collate.py(160): collate");
		py_builtin(s, "stack", "type");
		op_begin(s, "aten::stack", "*4l:S =0", OP_PLAIN);
		op_leaf(s, "aten::unsqueeze", "l:S =0");
		op_leaf(s, "aten::cat", "*4l:1,S =0");
		op_end(s);
		py_end(s);
		py_chatter(s, 60);
		tick(s, 5000);
	}
	ann_end(s);
	py_end(s);
	py_builtin(s, "to", "Tensor");
	op_begin(s, "aten::to", "l:B,S =4 =0 - - =False =False -", OP_PLAIN);
	op_begin(s, "aten::_to_copy", "l:B,S =4 =0 =0 - =False -", OP_PLAIN);
	op_alloc(s, "aten::empty_strided", "#[4,512] #[512,1] =4 =0 =0 -",
	    8 * tokens(s));
	op_begin(s, "aten::copy_", "l:B,S l:B,S =False", OP_PLAIN);
	copy(s, true, 8 * tokens(s));
	op_end(s);
	op_end(s);
	op_end(s);
	py_end(s);
	s->gs[0].ready =
	    s->gs[2].ready > s->gs[0].ready ? s->gs[2].ready : s->gs[0].ready;
}

static void
zero_grad(struct sim *s)
{
	py_begin(s, "torch/optim/optimizer.py(955): zero_grad");
	ann_begin(s, "Optimizer.zero_grad#AdamW.zero_grad", false);
	py_chatter(s, 80);
	ann_end(s);
	py_end(s);
}

static void
read_loss(struct sim *s)
{
	sim_region(s, 5);
	collective(s, COLL_ALLREDUCE, PG_DEFAULT, 1, true);
	py_builtin(s, "item", "Tensor");
	op_begin(s, "aten::item", "b:", OP_PLAIN);
	op_begin(s, "aten::_local_scalar_dense", "b:", OP_PLAIN);
	copy(s, false, 2);
	sync_streams(s, false);
	op_end(s);
	op_end(s);
	py_end(s);
	sync_streams(s, true);
}

/* The ops of a captured forward, with their kernels. */
static const struct captured {
	enum kid kernel;
	const char *op, *sig, *module;
} per_layer[GRAPH_PER_LAYER] = {
	{ K_LN, "aten::native_layer_norm", "b:B,S,H #[1024] b:H b:H =1e-05",
	    "nn.Module: LayerNorm_" },
	{ K_GEMM_TN, "aten::mm", "b:BS,H b~H,H", "nn.Module: Linear_" },
	{ K_ATTN, "aten::_flash_attention_forward",
	    "b:B,S,N,D b:B,S,N,D b:B,S,N,D", "nn.Module: Attention_" },
	{ K_GEMM_TN, "aten::mm", "b:BS,H b~H,H", "nn.Module: Linear_" },
	{ K_ADD, "aten::add", "b:B,S,H b:B,S,H =1", "nn.Module: Block_" },
	{ K_LN, "aten::native_layer_norm", "b:B,S,H #[1024] b:H b:H =1e-05",
	    "nn.Module: LayerNorm_" },
	{ K_GEMM_TN, "aten::mm", "b:BS,H b~H,F", "nn.Module: Linear_" },
	{ K_GELU, "aten::gelu", "b:B,S,F =none", "nn.Module: GELU_" },
	{ K_GEMM_NN, "aten::mm", "b:BS,F b:F,H", "nn.Module: Linear_" },
};

/* The capture that replay() plays: ops and launches, no kernels. */
static void
capture(struct sim *s)
{
	sim_region(s, 6);
	py_begin(s, "torch/cuda/graphs.py(174): __enter__");
	api(s, "hipStreamBeginCapture", "cudaStreamBeginCapture_v10000", 243,
	    317);
	py_begin(s, "model.py(40): forward");
	for (int64_t i = 0; i < s->cf->layers * GRAPH_PER_LAYER; i++) {
		const struct captured *c = &per_layer[i % GRAPH_PER_LAYER];

		py_module(s, c->module, i);
		op_begin(s, c->op, c->sig, OP_PLAIN);
		launch_captured(s, &kerns[c->kernel]);
		op_end(s);
		py_end(s);
	}
	py_end(s);
	api(s, "hipStreamEndCapture", "cudaStreamEndCapture_v10000", 244, 318);
	py_end(s);
}

/* A captured forward played again: one launch, no ops. */
static void
replay(struct sim *s)
{
	int64_t n = s->cf->layers * GRAPH_PER_LAYER;
	const struct kern **k = malloc((size_t)n * sizeof *k);

	if (k == NULL)
		die("out of memory");
	for (int64_t i = 0; i < n; i++)
		k[i] = &kerns[per_layer[i % GRAPH_PER_LAYER].kernel];
	sim_region(s, 6);
	py_begin(s, "torch/cuda/graphs.py(88): replay");
	py_builtin(s, "replay", "CUDAGraph");
	launch_graph(s, k, (int)n);
	py_end(s);
	py_end(s);
	free(k);
}

static void
begin(struct sim *s)
{
	s->nev = s->ncolls = s->nnode = s->nchunk = s->nused = 0;
	s->nop = s->npy = s->nann = s->cstream = 0;
	s->thr = THR_MAIN;
	s->no_grad = false;
	s->last_kernel = -1;
	s->layer = s->place = -1;
	sim_region(s, 0);
}

void
model_step(struct sim *s)
{
	begin(s);
	ann_begin(s, text_num(s, "ProfilerStep#", s->step + 1, ""), true);
	py_begin(s, "train.py(96): train_step");
	load_batch(s);
	if (s->step % 8 == 0)
		collective(s, COLL_BROADCAST, PG_DEFAULT, 53120, true);
	zero_grad(s);
	if (s->cf->capture) {
		capture(s);
	} else if (s->cf->graph) {
		replay(s);
	} else {
		py_begin(s, "torch/nn/modules/module.py(1739): _wrapped_call");
		forward(s);
		py_end(s);
		s->layer = -1;
		backward(s);
		optimizer(s);
	}
	read_loss(s);
	py_end(s);
	ann_end(s);
	sim_region(s, 7);
	tick(s, 400000); /* the loop between two steps */
	s->step++;
}

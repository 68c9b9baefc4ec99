/* SPDX-License-Identifier: MIT */
/*
 * The backward, on the autograd thread: the forward's nodes in reverse order;
 * gradients are reduced once those of a block are complete.
 */
#include "gen.h"

static void
accumulate(struct sim *s)
{
	op_begin(s,
	    "autograd::engine::evaluate_function: "
	    "torch::autograd::AccumulateGrad",
	    NULL, OP_PLAIN);
	op_begin(s, "torch::autograd::AccumulateGrad", "b:H,H", OP_PLAIN);
	op_leaf(s, "aten::detach", "b:H,H");
	op_end(s);
	op_end(s);
}

static void
bwd_linear(struct sim *s)
{
	int64_t h = s->cf->hidden;

	op_leaf(s, "aten::t", "b:H,H");
	op_begin(s, "aten::mm", "b:BS,H b:H,H", OP_PLAIN);
	gemm(s, K_GEMM_NN, tokens(s), h, h);
	op_end(s);
	op_begin(s, "aten::mm", "b~H,BS b:BS,H", OP_PLAIN);
	gemm(s, K_GEMM_NT, h, h, tokens(s));
	op_end(s);
	op_begin(s, "aten::sum", "b:BS,H #[0] =True -", OP_PLAIN);
	elementwise(s, K_SUM, acts(s), 1);
	op_end(s);
}

static void
bwd_layer_norm(struct sim *s)
{
	op_begin(s, "aten::native_layer_norm_backward",
	    "b:B,S,H b:B,S,H #[1024] f:B,S,1 f:B,S,1 b:H b:H "
	    "#[True,True,True]",
	    OP_PLAIN);
	op_alloc(s, "aten::empty_like", "b:B,S,H - - - - =0", 2 * acts(s));
	elementwise(s, K_LN_BWD, acts(s), 3);
	elementwise(s, K_LN_GRAD, acts(s), 2);
	op_end(s);
}

static void
bwd_sdpa(struct sim *s)
{
	int64_t flop = 10 * tokens(s) * s->cf->seq_len * s->cf->hidden;

	op_begin(s, "aten::_scaled_dot_product_flash_attention_backward",
	    "b:B,N,S,D b:B,N,S,D b:B,N,S,D b:B,N,S,D b:B,N,S,D f:B,N,S - - "
	    "=512 =512 =0. =True l: l: -",
	    OP_PLAIN);
	op_begin(s, "aten::_flash_attention_backward",
	    "b:B,S,N,D b:B,S,N,D b:B,S,N,D b:B,S,N,D b:B,S,N,D f:B,N,S - - "
	    "=512 =512 =0. =True l: l: - - -",
	    OP_PLAIN);
	fill(s, 4 * acts(s));
	launch(s, &kerns[K_ATTN_BWD], acts(s), 6000 + flop / FLOP_PER_NS);
	op_end(s);
	op_end(s);
}

static void
bwd_conv(struct sim *s)
{
	int64_t elems = s->cf->batch * 64 * 56 * 56;

	op_begin(s, "aten::convolution_backward",
	    "b:B,64,56,56 b:B,64,56,56 b:64,64,3,3 #[0] #[1,1] #[1,1] "
	    "#[1,1] =False #[0,0] =1 #[True,True,False]",
	    OP_PLAIN);
	launch(s, &kerns[K_CONV_DGRAD], elems, 6000 + elems / 260);
	launch(s, &kerns[K_CONV_WGRAD], elems, 7000 + elems / 260);
	op_end(s);
}

struct bwd {
	const char *wrapper, *name, *op, *sig;
	enum kid kern;
	int scale; /* of the activation; 0: work of its own */
	void (*own)(struct sim *s);
	bool grads; /* its weights gather gradients */
};

#define EVAL(x) .wrapper = "autograd::engine::evaluate_function: " x, .name = x

static const struct bwd bwds[] = {
	[N_CONV] = { EVAL("ConvolutionBackward0"), .own = bwd_conv,
	    .grads = true },
	[N_BN] = { EVAL("CudnnBatchNormBackward0"),
	    .op = "aten::cudnn_batch_norm_backward",
	    .sig = "b:B,64,56,56 b:B,64,56,56 f:64", .kern = K_BN_BWD,
	    .scale = 1, .grads = true },
	[N_RELU] = { EVAL("ReluBackward0"), .op = "aten::threshold_backward",
	    .sig = "b:B,64,56,56 b:B,64,56,56 =0", .kern = K_RELU_BWD,
	    .scale = 1 },
	[N_EMBED] = { EVAL("EmbeddingBackward0"),
	    .op = "aten::embedding_dense_backward",
	    .sig = "b:B,S,H l:B,S =50304 =-1 =False", .kern = K_EMBED_BWD,
	    .scale = 1, .grads = true },
	[N_LN] = { EVAL("NativeLayerNormBackward0"), .own = bwd_layer_norm,
	    .grads = true },
	[N_LINEAR] = { EVAL("AddmmBackward0"), .own = bwd_linear,
	    .grads = true },
	[N_SDPA] = { EVAL("ScaledDotProductFlashAttentionBackward0"),
	    .own = bwd_sdpa },
	[N_GELU] = { EVAL("GeluBackward0"), .op = "aten::gelu_backward",
	    .sig = "b:B,S,F b:B,S,F =none", .kern = K_GELU_BWD, .scale = 4 },
	[N_DROPOUT] = { EVAL("NativeDropoutBackward0"),
	    .op = "aten::native_dropout_backward",
	    .sig = "b:B,S,H o:B,S,H =1.1111111111111112", .kern = K_MASK,
	    .scale = 1 },
	[N_ADD] = { EVAL("AddBackward0") },
	[N_MUL] = { EVAL("MulBackward0"), .op = "aten::mul",
	    .sig = "b:B,N,S,D =0.125", .kern = K_MUL, .scale = 1 },
	[N_LOGSOFTMAX] = { EVAL("LogSoftmaxBackward0"),
	    .op = "aten::_log_softmax_backward_data",
	    .sig = "b:BS,V b:BS,V =1 =15", .kern = K_SOFTMAX_BWD, .scale = 40 },
	[N_NLL] = { EVAL("NllLossBackward0"), .op = "aten::nll_loss_backward",
	    .sig = "b: b:BS,V l:BS - =1 =-100 b:", .kern = K_NLL_BWD,
	    .scale = 1 },
};

static void
backward_node(struct sim *s, const struct node *n)
{
	const struct bwd *b = &bwds[n->type];
	struct ev *e;

	op_begin(s, b->wrapper, NULL, OP_PLAIN);
	s->ev[s->nev - 1].seq = n->seq;
	op_begin(s, b->name, "b:B,S,H", OP_PLAIN);
	e = &s->ev[s->nev - 1];
	e->seq = n->seq;
	e->flow = n->flow;
	e->flags |= EVF_BWD;
	if (b->own != NULL)
		b->own(s);
	else if (b->op != NULL) {
		op_begin(s, b->op, b->sig, OP_PLAIN);
		elementwise(s, b->kern, b->scale * acts(s), 3);
		op_end(s);
	}
	op_end(s);
	op_end(s);
	if (b->grads)
		accumulate(s);
}

/* The frames in which torch's checkpoint runs a block again. */
static void
recompute(struct sim *s, int64_t l)
{
	size_t mark = s->nnode, first = s->nev;
	int64_t seq = s->seq;

	py_begin(s, "torch/utils/checkpoint.py(1129): unpack_hook");
	py_begin(s, "torch/utils/checkpoint.py(1513): recompute_fn");
	s->no_grad = false;
	s->seq = s->rseq;
	block(s, l);
	s->rseq = s->seq;
	s->seq = seq;
	s->no_grad = true;
	s->nnode = mark; /* these nodes exist to be thrown away */
	for (size_t i = first; i < s->nev; i++)
		s->ev[i].flags &= (uint8_t)~EVF_FWD;
	py_end(s);
	py_end(s);
}

static void
backward_nodes(struct sim *s)
{
	int64_t layer = -1;

	for (size_t i = s->nnode; i-- > 0;) {
		struct node n = s->node[i];
		bool in_block = n.type != N_EMBED && n.type != N_LOGSOFTMAX &&
		    n.type != N_NLL && n.layer >= 0;

		if (in_block && n.layer != layer) {
			if (layer >= 0)
				collective(s, COLL_ALLREDUCE, PG_DP,
				    12 * s->cf->hidden * s->cf->hidden, false);
			layer = n.layer;
			if (s->cf->recompute)
				recompute(s, layer);
			sim_region(s, 500000 + (uint64_t)layer);
		}
		s->place = in_block ? n.layer : -1;
		backward_node(s, &n);
	}
	collective(s, COLL_ALLREDUCE, PG_DP, 12 * s->cf->hidden * s->cf->hidden,
	    false);
}

void
backward(struct sim *s)
{
	sim_region(s, 3);
	py_begin(s, "torch/_tensor.py(570): backward");
	py_begin(s, "torch/autograd/__init__.py(244): backward");
	py_builtin(s, "run_backward", "torch._C._EngineBase");
	if (!quirk_on(s->cf, Q_BWD_SAME))
		s->thr = THR_AUTOGRAD;
	tick(s, 30000);
	s->no_grad = true;
	backward_nodes(s);
	s->no_grad = false;
	tick(s, 20000);
	s->thr = THR_MAIN;
	py_end(s);
	py_end(s);
	py_end(s);
}

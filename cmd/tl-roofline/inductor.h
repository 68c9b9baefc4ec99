/* SPDX-License-Identifier: MIT */
/*
 * inductor: what torch.compile's wrapper files say of its Triton kernels.
 *
 * A wrapper is Python that defines each kernel as a string:
 *
 *	# Original ATen: [aten.mul, aten.silu]
 *	triton_poi_fused_mul_silu_2 = async_compile.triton('...', '''
 *	    size_hints={'x': 32768, 'r0_': 2048},
 *	    triton_meta={'signature': {'in_out_ptr0': '*bf16', 'xnumel': 'i32'},
 *	''', device_str='cuda')
 *
 * It is never run. Models get the text from the end of the previous kernel to
 * the end of this one as a further argument, "inductor_source", and search it.
 */
#ifndef TL_ROOFLINE_INDUCTOR_H
#define TL_ROOFLINE_INDUCTOR_H

#include "base/base.h"

struct inductor;

struct inductor *inductor_create(void);
void inductor_free(struct inductor *in);
/*
 * Reads all *.py below a folder, in order of their paths; of two definitions of
 * a kernel the first counts. Returns the number of kernels. A folder that can't
 * be read ends the program.
 */
size_t inductor_read(struct inductor *in, const char *dir);
/* The kernels of one file's text. */
void inductor_parse(struct inductor *in, struct str text);
/* The source of a kernel, which lives as long as in; false if unknown. */
bool inductor_source(
    const struct inductor *in, struct str kernel, struct str *source);

#endif

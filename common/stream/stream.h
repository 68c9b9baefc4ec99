/* SPDX-License-Identifier: MIT */
/*
 * stream: the event stream between programs, as tl-stream(5) specifies it.
 *
 * Two encodings of one model. The model: sources (one recorded file each) with
 * facts and metadata; sections; events. An event has a few fixed fields and a
 * list of entries: its arguments and anything else from its source.
 *
 * The layout of an event (kind, phase, category, which fixed fields, the keys
 * and types of its entries) is its *shape*. Traces have few shapes, so a shape
 * is defined once and an event is a shape's number and the values. Strings,
 * shapes and tracks (process and thread) are numbered per stream; what this
 * reader hands out is numbered per struct dict, shared by all streams that
 * a program opens with it, so that equal bytes are equal numbers.
 *
 * Lower layer: enc, dec (wire.h) and ndjson turn events into bytes and back;
 * they return a status and never print or exit. Upper layer (read.h, write.h):
 * for programs; a function works or ends the program with "file: byte N:
 * reason". This header includes the model and the upper layer.
 *
 *	struct stream_in *in = stream_open(path, NULL, WANT_TREE);
 *	while ((item = stream_next(in)) != ITEM_END)
 *		if (item == ITEM_EVENT && in->ev.shape->kind == KIND_KERNEL)
 *			sum += in->ev.dur_ns;
 *	stream_close(in);
 */
#ifndef TL_STREAM_H
#define TL_STREAM_H
#include "stream/dict.h"
#include "stream/event.h"
#include "stream/kind.h"
#include "stream/read.h"
#include "stream/shape.h"
#include "stream/source.h"
#include "stream/uid.h"
#include "stream/write.h"

#endif

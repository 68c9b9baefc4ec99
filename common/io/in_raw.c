/* SPDX-License-Identifier: MIT */
/* Reading a descriptor: short reads, signals, pipes that block. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "io/in_priv.h"

bool
raw_would_wait(const struct in_raw *raw)
{
	struct pollfd p = { .fd = raw->fd, .events = POLLIN };

	return raw->may_wait && poll(&p, 1, 0) == 0;
}

/* Waits for bytes; false if woken up to end. */
static bool
wait_readable(const struct in_raw *raw)
{
	struct pollfd p[2] = {
		{ .fd = raw->fd, .events = POLLIN },
		{ .fd = raw->wake, .events = POLLIN },
	};

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return true; /* let read(2) find the reason */
	return p[1].revents == 0;
}

size_t
raw_read(struct in_raw *raw, void *dst, size_t n)
{
	ssize_t got;

	for (;;) {
		if (raw->may_wait && raw->wake >= 0 && !wait_readable(raw)) {
			raw->woken = true;
			return 0;
		}
		got = read(raw->fd, dst, n);
		if (got >= 0)
			break;
		if (errno == EAGAIN) {
			wait_readable(raw);
		} else if (errno != EINTR) {
			raw->error = errno;
			break;
		}
	}
	if (got <= 0) {
		raw->eof = true;
		return 0;
	}
	atomic_fetch_add_explicit(
	    &raw->total, (uint64_t)got, memory_order_relaxed);
	return (size_t)got;
}

bool
raw_fill(struct in_raw *raw, size_t n)
{
	size_t have = (size_t)(raw->end - raw->p);
	size_t got;

	if (raw->eof)
		return false;
	memmove(raw->buf, raw->p, have);
	raw->p = raw->buf;
	raw->end = raw->buf + have;
	got =
	    raw_read(raw, raw->end, n < RAW_SIZE - have ? n : RAW_SIZE - have);
	raw->end += got;
	return got > 0;
}

uint64_t
raw_total(const struct in_raw *raw)
{
	return atomic_load_explicit(&raw->total, memory_order_relaxed);
}

uint64_t
raw_offset(const struct in_raw *raw)
{
	return raw_total(raw) - (uint64_t)(raw->end - raw->p);
}

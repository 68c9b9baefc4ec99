/* SPDX-License-Identifier: MIT */
/* Hooks that run before a signal ends the program. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/base.h"

#define HOOKS_MAX 4

/* A handler may read it at any time: a hook is written before its count. */
static void (*hooks[HOOKS_MAX])(void);
static atomic_int nhooks;

static void
on_signal(int sig)
{
	int err = errno;

	for (int i = atomic_load(&nhooks); i-- > 0;)
		hooks[i]();
	errno = err;
	raise(sig); /* the default action, after this handler */
}

/* An ignored signal (nohup) stays ignored; other handlers stay, too. */
static void
watch(void)
{
	static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM,
		SIGXCPU, SIGXFSZ };
	struct sigaction sa = { .sa_handler = on_signal }, old;

	sa.sa_flags = (int)SA_RESETHAND;
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
		if (sigaction(deadly[i], NULL, &old) == 0 &&
		    (old.sa_flags & SA_SIGINFO) == 0 &&
		    old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &sa, NULL);
}

void
err_at_signal(void (*fn)(void))
{
	int n = atomic_load(&nhooks);

	for (int i = 0; i < n; i++)
		if (hooks[i] == fn)
			return;
	assert(n < HOOKS_MAX);
	hooks[n] = fn;
	atomic_store(&nhooks, n + 1);
	if (n == 0)
		watch();
}

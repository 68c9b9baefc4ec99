/* SPDX-License-Identifier: MIT */
/*
 * Does what libFuzzer's main does with files, for any compiler: feeds each once
 * to a fuzz target, so that past failures stay fixed. TAP on stdout. A folder
 * means the files in it; the empty input is always tried.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int ndone;

static void
try(const char *name, const char *data, size_t size)
{
	/* A heap block of just this size, so that ASan sees its end. */
	uint8_t *copy = malloc(size > 0 ? size : 1);

	if (copy == NULL)
		abort();
	if (size > 0)
		memcpy(copy, data, size);
	printf("# %s\n", name); /* the last line, should it crash */
	fflush(stdout);
	LLVMFuzzerTestOneInput(copy, size);
	printf("ok %d\n", ++ndone);
	free(copy);
}

static bool
try_file(const char *path)
{
	char *data = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "re");
	FILE *mem = open_memstream(&data, &size);
	char buf[8192];
	size_t n;
	bool is_read;

	if (f == NULL || mem == NULL) {
		if (f != NULL)
			fclose(f);
		return false;
	}
	while ((n = fread(buf, 1, sizeof buf, f)) > 0)
		fwrite(buf, 1, n, mem);
	is_read = !ferror(f);
	fclose(f);
	fclose(mem);
	if (is_read)
		try(path, data, size);
	free(data);
	return is_read;
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void
try_folder(const char *path)
{
	struct dirent **files;
	int n = scandir(path, &files, NULL, by_name);

	for (int i = 0; i < n; i++) {
		char *name;

		if (files[i]->d_name[0] != '.') {
			if (asprintf(&name, "%s/%s", path, files[i]->d_name) ==
			    -1)
				abort();
			if (!try_file(name))
				printf("# cannot read %s\n", name);
			free(name);
		}
		free(files[i]);
	}
	if (n >= 0)
		free(files);
}

int
main(int argc, char *argv[])
{
	try("the empty input", "", 0);
	for (int i = 1; i < argc; i++) {
		if (!try_file(argv[i]))
			try_folder(argv[i]);
	}
	printf("1..%d\n", ndone);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * embed FOLDER FILE...: files as a C array of struct embedded (see
 * base/embedded.h), on stdout. Made and run by the build.
 *
 * Each file is followed by the zeros that our readers expect. A Lua file also
 * has its compiled form, which loads five times as fast. Names are relative to
 * the folder, and the array has the name of its last part.
 */
#ifdef HAVE_LUA
#include <lauxlib.h>
#include <lua.h>
#else
typedef void lua_State;
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "embed: %s: %s\n", what, why);
	exit(1);
}

static int
put(lua_State *L, const void *bytes, size_t n, void *count)
{
	const unsigned char *p = bytes;

	(void)L;
	for (size_t i = 0; i < n; i++)
		printf("%d,%s", p[i], ++*(size_t *)count % 24 == 0 ? "\n" : "");
	return 0;
}

static char *
slurp(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *text = malloc(1 << 24);

	if (f == NULL || text == NULL)
		fail(path, "can't be read");
	*len = fread(text, 1, 1 << 24, f);
	fclose(f);
	return text;
}

#ifdef HAVE_LUA
/* The number of bytes of the compiled form. */
static size_t
compile(const char *name, const char *text, size_t len)
{
	lua_State *L = luaL_newstate();
	char chunk[256];
	size_t n = 0;

	snprintf(chunk, sizeof chunk, "@%s", name);
	if (luaL_loadbufferx(L, text, len, chunk, "t") != LUA_OK)
		fail(name, lua_tostring(L, -1));
	lua_dump(L, put, &n, 0);
	lua_close(L);
	return n;
}
#endif

/* The array's name: "cmd/tl-html" is tl_html. */
static char *
array_of(const char *folder)
{
	char *name = strdup(strrchr(folder, '/') + 1);

	for (char *p = name; *p != '\0'; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

int
main(int argc, char *argv[])
{
	size_t *len = calloc((size_t)argc * 2 + 2, sizeof *len),
	       *code = len + argc;
	size_t skip = strlen(argv[1]) + 1;
	char *array = array_of(argv[1]);

	printf("#include \"base/embedded.h\"\n#include \"io/io.h\"\n");
	for (int i = 2; i < argc; i++) {
		char *text = slurp(argv[i], &len[i]);
		size_t n = 0;

		printf("static const unsigned char text_%d[%zu + IN_PAD] = {\n",
		    i, len[i]);
		put(NULL, text, len[i], &n);
		printf("};\nstatic const unsigned char code_%d[] = {\n", i);
#ifdef HAVE_LUA
		if (strcmp(argv[i] + strlen(argv[i]) - 4, ".lua") == 0)
			code[i] = compile(argv[i] + skip, text, len[i]);
#endif
		printf("0 };\n");
		free(text);
	}
	printf("extern const struct embedded %s_data[];\n", array);
	printf("extern const size_t %s_ndata;\n", array);
	printf("const struct embedded %s_data[] = {\n", array);
	for (int i = 2; i < argc; i++)
		printf("\t{ \"%s\", text_%d, %zu, code_%d, %zu },\n",
		    argv[i] + skip, i, len[i], i, code[i]);
	printf("};\nconst size_t %s_ndata = %d;\n", array, argc - 2);
	free(len);
	free(array);
	return fflush(stdout) == 0 ? 0 : 1;
}

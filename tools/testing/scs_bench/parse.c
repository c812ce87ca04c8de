// SPDX-License-Identifier: GPL-2.0
/*
 * Parsers for what scs_bench reads: console logs, perf's output, QEMU's execution log, System.map.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"

#define MARK "scs_bench: "

/* Skip "[...]" when it holds nothing but the given characters after optional blanks. */
static const char *skip_brackets(const char *s, const char *allowed)
{
	const char *end;

	if (*s != '[')
		return s;
	end = s + 1 + strspn(s + 1, allowed);
	if (*end != ']' || end == s + 1)
		return s;
	end++;
	return *end == ' ' ? end + 1 : end;
}

/**
 * printk_text - skip what printk puts in front of a line
 * @line: a line of a console log
 *
 * Skips a level ("<4>"), a time ("[    1.234567] ") and a caller ("[    T1] "), each of them only
 * if it is there. Blanks that belong to the text stay.
 *
 * Return: the text within @line.
 */
const char *printk_text(const char *line)
{
	const char *s = line;

	if (s[0] == '<' && isdigit((unsigned char)s[1])) {
		s += 1 + strspn(s + 1, "0123456789");
		s = *s == '>' ? s + 1 : line;
	}
	s = skip_brackets(s, " 0123456789.");
	return skip_brackets(s, " TC0123456789");
}

/**
 * log_line - take the next line off a log
 * @pos: where to read, advanced
 *
 * Return: the line without its end, to be freed; NULL at the end of the log.
 */
char *log_line(const char **pos)
{
	size_t len = strcspn(*pos, "\n"), text = len;
	char *line;

	if (!**pos)
		return NULL;
	while (text && (*pos)[text - 1] == '\r')
		text--;
	line = xasprintf("%.*s", (int)text, *pos);
	*pos += len + ((*pos)[len] == '\n');
	return line;
}

/**
 * log_has - does any line of a log have a text in it?
 * @log: the log
 * @needle: the text
 *
 * Return: true if so.
 */
bool log_has(const char *log, const char *needle)
{
	return strstr(log, needle);
}

static void counters_add(struct counters *c, const char *line)
{
	const char *end = line + strlen(line), *num;
	char *stop;
	long long value;
	size_t len;

	/* "some name: 123" or "some_name 123" */
	for (num = end; num > line && !strchr(" \t:", num[-1]); num--)
		;
	value = strtoll(num, &stop, 10);
	if (stop == num || *stop)
		return;
	for (len = num - line; len && strchr(" \t:", line[len - 1]); len--)
		;
	if (!len)
		return;
	c->v = xrealloc(c->v, (c->n + 1) * sizeof(*c->v));
	c->v[c->n].name = xasprintf("%.*s", (int)len, line);
	c->v[c->n++].value = value;
}

static void counters_free(struct counters *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->v[i].name);
	free(c->v);
	memset(c, 0, sizeof(*c));
}

/**
 * counter_find - look a counter up
 * @c: the counters
 * @name: its name
 *
 * Return: the counter, or NULL.
 */
const struct counter *counter_find(const struct counters *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return &c->v[i];
	return NULL;
}

static void parse_mark(const char *text, struct boot_log *out, struct counters **block)
{
	if (!strcmp(text, "begin stackdepot"))
		*block = &out->stackdepot;
	else if (!strcmp(text, "begin scs_trace"))
		*block = &out->scs_trace;
	else if (!strncmp(text, "end ", 4))
		*block = NULL;
	else if (!strncmp(text, "error ", 6) && !out->error)
		out->error = xstrdup(text + 6);
	else if (!strcmp(text, "done"))
		out->done = true;
	else if (sscanf(text, "entry %llx", &out->entry) == 1 ||
		 sscanf(text, "cntvct %llu", &out->cntvct) == 1 ||
		 sscanf(text, "cntfrq %llu", &out->cntfrq) == 1 ||
		 sscanf(text, "pagesize %llu", &out->pagesize) == 1 ||
		 sscanf(text, "kmsg %llu %llu %llu", &out->kmsg_before,
			&out->kmsg_after, &out->kmsg_us) == 3)
		return;
	if (*block)
		(*block)->present = true;
}

/**
 * boot_log_parse - read the console log of a boot of our init
 * @log: the log
 * @out: what it says; what it does not say is 0 or NULL
 */
void boot_log_parse(const char *log, struct boot_log *out)
{
	struct counters *block = NULL;
	const char *text;
	char *line;

	memset(out, 0, sizeof(*out));
	while ((line = log_line(&log))) {
		text = printk_text(line);
		if (!strncmp(text, MARK, strlen(MARK)))
			parse_mark(text + strlen(MARK), out, &block);
		else if (block)
			counters_add(block, text);
		else if (!out->banner && !strncmp(text, "Linux version ", 14))
			out->banner = xstrdup(text);
		free(line);
	}
}

/**
 * boot_log_free - free what boot_log_parse() allocated
 * @log: the parsed log
 */
void boot_log_free(struct boot_log *log)
{
	free(log->banner);
	free(log->error);
	counters_free(&log->stackdepot);
	counters_free(&log->scs_trace);
	memset(log, 0, sizeof(*log));
}

/**
 * banner_split - take the kernel's banner apart
 * @banner: "Linux version 6.12.1 (user@host) (compiler, linker) #1 SMP ..."
 * @version: the version, digits and dots only, to be freed
 * @compiler: compiler and linker, to be freed
 *
 * Return: false when it does not look like that; then nothing is set.
 */
bool banner_split(const char *banner, char **version, char **compiler)
{
	const char *ver, *cc, *end;
	int depth = 1;

	if (strncmp(banner, "Linux version ", 14))
		return false;
	ver = banner + 14;
	cc = strstr(ver, ") (");
	if (!cc || !isdigit((unsigned char)*ver))
		return false;
	cc += 3;
	for (end = cc; *end; end++) {
		depth += (*end == '(') - (*end == ')');
		if (!depth)
			break;
	}
	if (!*end)
		return false;
	*version = xasprintf("%.*s", (int)strspn(ver, "0123456789."), ver);
	*compiler = xasprintf("%.*s", (int)(end - cc), cc);
	return true;
}

/**
 * perf_parse - find the wall time in the output of "perf stat"
 * @text: the output, in the C locale
 * @seconds: the result
 *
 * Return: false when there is none.
 */
bool perf_parse(const char *text, double *seconds)
{
	const char *p = strstr(text, " seconds time elapsed");

	if (!p)
		return false;
	while (p > text && (isdigit((unsigned char)p[-1]) || p[-1] == '.'))
		p--;
	return sscanf(p, "%lf", seconds) == 1 && *seconds > 0;
}

static struct call_count *find_call(struct call_count *calls, size_t ncalls, u64 pc)
{
	size_t i, j;

	for (i = 0; i < ncalls; i++)
		for (j = 0; j < calls[i].naddr; j++)
			if (calls[i].addr[j] == pc)
				return &calls[i];
	return NULL;
}

/**
 * exec_log_count - count function entries in a log of QEMU's "-d exec"
 * @f: the log
 * @calls: the functions; their counts are set
 * @ncalls: how many functions
 * @time_init: address of time_init()
 * @init_entry: address of init's first instruction, where counting ends
 * @time_init_calls: how often time_init() was entered: anything but 1 means that the addresses are
 *	not those of the kernel that ran
 *
 * A translation block that QEMU had to leave before its first instruction (an interrupt was due) is
 * logged again when it runs, with a line "Stopped execution" in between: that takes one off.
 *
 * Return: 0, or -1 when the log does not reach init's first instruction.
 */
int exec_log_count(FILE *f, struct call_count *calls, size_t ncalls, u64 time_init,
		   u64 init_entry, u64 *time_init_calls)
{
	struct call_count *call;
	char line[512];
	u64 pc;
	size_t i;

	*time_init_calls = 0;
	for (i = 0; i < ncalls; i++) {
		calls[i].total = 0;
		calls[i].early = 0;
	}

	while (fgets(line, sizeof(line), f)) {
		int add = 1;

		/* Trace CPU: HOST [CS_BASE/PC/FLAGS/CFLAGS] SYMBOL */
		if (sscanf(line, "Trace %*d: %*s [%*[^/]/%llx/", &pc) != 1) {
			if (sscanf(line, "Stopped execution of TB chain before %*s [%llx]",
				   &pc) != 1)
				continue;
			add = -1;
		}
		if (pc == init_entry) {
			return 0;
		} else if (pc == time_init) {
			*time_init_calls += add;
			continue;
		}
		call = find_call(calls, ncalls, pc);
		if (!call)
			continue;
		call->total += add;
		if (!*time_init_calls)
			call->early += add;
	}
	return -1;
}

/**
 * system_map_lookup - find the addresses of functions
 * @f: System.map
 * @calls: the functions; their addresses are set
 * @ncalls: how many functions
 *
 * Return: 0, or -1 when the file holds no symbols or more of one name than we have room for.
 */
int system_map_lookup(FILE *f, struct call_count *calls, size_t ncalls)
{
	char line[1024], name[512], type;
	size_t i, symbols = 0;
	u64 addr;

	for (i = 0; i < ncalls; i++)
		calls[i].naddr = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &addr, &type, name) != 3)
			continue;
		symbols++;
		if (!strchr("tTwW", type))
			continue;
		for (i = 0; i < ncalls; i++) {
			if (strcmp(calls[i].name, name))
				continue;
			if (calls[i].naddr == ARRAY_SIZE(calls[i].addr))
				return -1;
			calls[i].addr[calls[i].naddr++] = addr;
		}
	}
	return symbols ? 0 : -1;
}

/**
 * initcalls_parse - read what "initcall_debug" printed
 * @log: a console log
 * @initcalls: object: microseconds by function are added
 */
void initcalls_parse(const char *log, json_t *initcalls)
{
	static const char start[] = "initcall ";
	char name[128], *line;
	const char *text;
	long long us, before;
	int end;

	while ((line = log_line(&log))) {
		text = printk_text(line);
		end = 0;
		if (!strncmp(text, start, sizeof(start) - 1) &&
		    sscanf(text, "initcall %127[^+ ]%*s returned %*d after %lld usecs%n", name,
			   &us, &end) == 2 && end) {
			/* Static functions of one name are taken together. */
			before = json_integer_value(json_object_get(initcalls, name));
			json_object_set_new(initcalls, name, json_integer(before + us));
		}
		free(line);
	}
}

/**
 * config_has - is an option built in?
 * @config: text of a kernel's .config
 * @option: the option's full name
 *
 * Return: true if it is "=y".
 */
bool config_has(const char *config, const char *option)
{
	char *needle = xasprintf("%s=y\n", option);
	const char *p = strstr(config, needle);
	bool found = p && (p == config || p[-1] == '\n');

	free(needle);
	return found;
}

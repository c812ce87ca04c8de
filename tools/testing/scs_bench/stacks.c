// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the stack traces that KASAN reports and page_owner records print, and compares two logs.
 *
 * Traces are compared by function name: offsets, modules, addresses and task numbers may differ
 * from one kernel to the next. The key of a report is the KUnit test that it belongs to and its
 * place among that test's reports.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "stacks.h"

#define OUTSIDE "(outside any test)"

/* What KASAN prints in place of a stack that it does not have. */
#define NOT_AVAILABLE "(stack is not available)"

/* KTAP indents a suite's tests by this much; what is deeper are parameters of one test. */
#define TEST_INDENT 4

#define ALLOCATED	"Allocated by task"
#define FREED		"Freed by task"

/* Headings of the traces that come from the stack depot. */
static const char * const headings[] = {
	ALLOCATED,
	FREED,
	"Last potentially related work creation",
	"Second to last potentially related work creation",
};

/*
 * Whether a page is allocated at this place for the slab allocator, for the stack depot or for a
 * page table of vmalloc space depends on what was allocated before, not on the caller: such
 * records differ between any two kernels.
 */
static const char * const stateful[] = {
	"new_slab", "allocate_slab", "stack_depot_save_flags", "register_dummy_stack",
	"depot_refill", "depot_table_grow", "depot_table_start", "__pte_alloc_kernel",
};

/**
 * struct parser - where we are in a log
 * @log: the result so far
 * @stack: the trace that lines belong to, or NULL
 * @report: the report that is open, or NULL
 * @pending: reports whose test is not known yet: KUnit names a test when it has ended
 * @npending: how many
 * @suite: name of the suite, or NULL
 * @planned: tests that the suite announced
 * @seen: tests of the suite that ended
 * @in_records: between the markers of a page_owner section
 */
struct parser {
	struct stack_log *log;
	struct stack *stack;
	struct report *report;
	struct report *pending;
	size_t npending;
	char *suite;
	unsigned long planned;
	unsigned long seen;
	bool in_records;
};

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static struct stack *add_stack(struct stack **stacks, size_t *n, const char *what)
{
	struct stack *s;

	*stacks = xrealloc(*stacks, (*n + 1) * sizeof(**stacks));
	s = &(*stacks)[(*n)++];
	memset(s, 0, sizeof(*s));
	s->what = xstrdup(what);
	return s;
}

static void free_stack(struct stack *s)
{
	free(s->what);
	strv_free(&s->frames);
}

static void free_report(struct report *r)
{
	size_t i;

	for (i = 0; i < r->nstacks; i++)
		free_stack(&r->stacks[i]);
	free(r->stacks);
	free(r->title);
}

static bool same_frames(const struct strv *a, const struct strv *b)
{
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]))
			return false;
	return true;
}

static bool is_repeated(const struct report *a, const struct report *b)
{
	size_t i;

	if (!a->by_tag || !b->by_tag || a->nstacks != b->nstacks || strcmp(a->title, b->title))
		return false;
	for (i = 0; i < a->nstacks; i++)
		if (strcmp(a->stacks[i].what, b->stacks[i].what) ||
		    !same_frames(&a->stacks[i].frames, &b->stacks[i].frames))
			return false;
	return true;
}

/*
 * How often a tag-based mode reports the very same is chance: for each byte of a freed object that
 * a string function reads up to a zero, for each tag that isn't the pointer's. Once will do.
 */
static void drop_repeated(struct report *reports, size_t *n)
{
	size_t i, kept = 0;

	for (i = 0; i < *n; i++) {
		if (kept && is_repeated(&reports[kept - 1], &reports[i]))
			free_report(&reports[i]);
		else
			reports[kept++] = reports[i];
	}
	*n = kept;
}

static struct test_case *add_test(struct parser *p, char *name, const char *status)
{
	struct stack_log *log = p->log;
	struct test_case *t;

	drop_repeated(p->pending, &p->npending);
	log->tests = xrealloc(log->tests, (log->ntests + 1) * sizeof(*log->tests));
	t = &log->tests[log->ntests++];
	t->name = name;
	t->status = status;
	t->reports = p->pending;
	t->nreports = p->npending;
	p->pending = NULL;
	p->npending = 0;
	p->report = NULL;
	p->stack = NULL;
	return t;
}

static void set_problem(struct parser *p, char *problem)
{
	if (p->log->problem)
		free(problem);
	else
		p->log->problem = problem;
}

static void begin_report(struct parser *p, const char *text)
{
	const char *offset = strchr(text, '+');
	struct report *r;

	p->pending = xrealloc(p->pending, (p->npending + 1) * sizeof(*p->pending));
	r = &p->pending[p->npending++];
	memset(r, 0, sizeof(*r));
	r->title = xasprintf("%.*s", offset ? (int)(offset - text) : (int)strlen(text), text);
	p->report = r;
	p->stack = NULL;
}

/* " function+0x12/0x34 [module]": true if it is that, or an address without a name. */
static bool parse_frame(struct parser *p, const char *text)
{
	size_t len;

	if (*text != ' ')
		return false;
	text += strspn(text, " ");
	len = strcspn(text, "+ ");
	if (text[len] == '+' && starts_with(text + len, "+0x") && len) {
		strv_add(&p->stack->frames, "%.*s", (int)len, text);
		return true;
	}
	if (starts_with(text, "0x") && strspn(text + 2, "0123456789abcdef") == strlen(text + 2)) {
		strv_add(&p->stack->frames, "(no symbol)");
		return true;
	}
	return false;
}

/* "ok 3 name # SKIP why" or "not ok 3 name": true if the line is a test's result. */
static bool parse_ktap_result(struct parser *p, const char *text)
{
	const char *s = text + strspn(text, " ");
	const char *status = "ok";
	size_t indent = s - text;
	char *name;
	size_t len;

	if (starts_with(s, "not ok ")) {
		status = "not ok";
		s += 4;
	}
	if (!starts_with(s, "ok ") || !isdigit((unsigned char)s[3]))
		return false;
	s += 3 + strspn(s + 3, "0123456789");
	s += strspn(s, " -");
	len = strcspn(s, " ");
	if (!len)
		return false;
	if (strstr(s, "# SKIP"))
		status = "skip";

	if (indent > TEST_INDENT)
		return true;
	if (indent == TEST_INDENT) {
		name = xasprintf("%s%s%.*s", p->suite ? p->suite : "", p->suite ? "." : "",
				 (int)len, s);
		add_test(p, name, status);
		p->seen++;
		return true;
	}
	/* The suite itself: its tests must all be there. */
	if (p->suite && p->seen < p->planned)
		set_problem(p, xasprintf("suite %s announced %lu tests, but only %lu ended",
					 p->suite, p->planned, p->seen));
	free(p->suite);
	p->suite = NULL;
	return true;
}

static bool parse_ktap_plan(struct parser *p, const char *text)
{
	const char *s = text + strspn(text, " ");

	if (s - text != TEST_INDENT)
		return false;
	if (starts_with(s, "# Subtest: ")) {
		free(p->suite);
		p->suite = xstrdup(s + strlen("# Subtest: "));
		p->planned = 0;
		p->seen = 0;
		return true;
	}
	if (p->suite && starts_with(s, "1..") && isdigit((unsigned char)s[3])) {
		p->planned = strtoul(s + 3, NULL, 10);
		return true;
	}
	return false;
}

static bool is_stateful(const struct stack *s)
{
	size_t i, j;

	for (i = 0; i < s->frames.n; i++)
		for (j = 0; j < ARRAY_SIZE(stateful); j++)
			if (!strcmp(s->frames.v[i], stateful[j]))
				return true;
	return false;
}

static void drop_stateful_records(struct stack_log *log)
{
	size_t i, kept = 0;

	for (i = 0; i < log->nrecords; i++) {
		if (is_stateful(&log->records[i])) {
			free_stack(&log->records[i]);
			log->left_out++;
		} else {
			log->records[kept++] = log->records[i];
		}
	}
	log->nrecords = kept;
}

static void parse_line(struct parser *p, const char *text)
{
	size_t i;

	if (p->stack && parse_frame(p, text))
		return;
	if (p->stack && !strcmp(text, NOT_AVAILABLE)) {
		strv_add(&p->stack->frames, "%s", text);
		return;
	}
	p->stack = NULL;

	if (starts_with(text, "scs_bench: ")) {
		text += strlen("scs_bench: ");
		if (!strcmp(text, "begin page_owner")) {
			p->in_records = true;
			p->log->has_records = true;
		} else if (!strcmp(text, "end page_owner")) {
			p->in_records = false;
		} else if (p->in_records && starts_with(text, "record ")) {
			p->stack = add_stack(&p->log->records, &p->log->nrecords,
					     text + strlen("record "));
		}
	} else if (starts_with(text, "BUG: KASAN: ")) {
		begin_report(p, text + strlen("BUG: KASAN: "));
	} else if (starts_with(text, "==========")) {
		p->report = NULL;
	} else if (!parse_ktap_result(p, text) && !parse_ktap_plan(p, text) && p->report) {
		if (starts_with(text, "Pointer tag: "))
			p->report->by_tag = true;
		for (i = 0; i < ARRAY_SIZE(headings); i++)
			if (starts_with(text, headings[i]))
				p->stack = add_stack(&p->report->stacks, &p->report->nstacks,
						     headings[i]);
	}
}

/**
 * stack_log_parse - read a console log
 * @text: the log
 * @log: what it holds
 *
 * Return: false when it cannot be compared; @log->problem says why.
 */
bool stack_log_parse(const char *text, struct stack_log *log)
{
	struct parser p = { .log = log };
	size_t i, stacks = 0, j;
	char *line;

	memset(log, 0, sizeof(*log));
	while ((line = log_line(&text))) {
		parse_line(&p, printk_text(line));
		free(line);
	}
	if (p.report)
		set_problem(&p, xasprintf("it ends inside the report \"%s\"", p.report->title));
	if (p.suite)
		set_problem(&p, xasprintf("it ends inside the suite %s, after %lu of %lu tests",
					  p.suite, p.seen, p.planned));
	if (p.in_records)
		set_problem(&p, xstrdup("it ends inside the page_owner records"));
	free(p.suite);
	if (p.npending)
		add_test(&p, xstrdup(OUTSIDE), "ok");

	drop_stateful_records(log);
	for (i = 0; i < log->ntests; i++)
		for (j = 0; j < log->tests[i].nreports; j++)
			stacks += log->tests[i].reports[j].nstacks;
	if (!stacks && !log->nrecords)
		set_problem(&p,
			    xstrdup("it has no KASAN report with a stack, no page_owner record"));
	return !log->problem;
}

/**
 * stack_log_free - free what stack_log_parse() allocated
 * @log: the parsed log
 */
void stack_log_free(struct stack_log *log)
{
	size_t i, j;

	for (i = 0; i < log->ntests; i++) {
		struct test_case *t = &log->tests[i];

		for (j = 0; j < t->nreports; j++)
			free_report(&t->reports[j]);
		free(t->reports);
		free(t->name);
	}
	for (i = 0; i < log->nrecords; i++)
		free_stack(&log->records[i]);
	free(log->tests);
	free(log->records);
	free(log->problem);
	memset(log, 0, sizeof(*log));
}

static void print_pair(FILE *out, const char *a, const char *b)
{
	fprintf(out, "#   %c %-44s %s\n", strcmp(a, b) ? '!' : ' ', a, b);
}

/* Both traces side by side: what they share at either end, and in between what differs. */
static void print_side_by_side(FILE *out, const struct strv *a, const struct strv *b)
{
	size_t shorter = a->n < b->n ? a->n : b->n;
	size_t head = 0, tail = 0, i;

	while (head < shorter && !strcmp(a->v[head], b->v[head]))
		head++;
	while (tail < shorter - head &&
	       !strcmp(a->v[a->n - 1 - tail], b->v[b->n - 1 - tail]))
		tail++;
	for (i = 0; i < head; i++)
		print_pair(out, a->v[i], b->v[i]);
	for (i = head; i < a->n - tail || i < b->n - tail; i++)
		print_pair(out, i < a->n - tail ? a->v[i] : "-", i < b->n - tail ? b->v[i] : "-");
	for (i = tail; i > 0; i--)
		print_pair(out, a->v[a->n - i], b->v[b->n - i]);
}

static bool has_frame(const struct stack *s, const char *function)
{
	size_t i;

	for (i = 0; i < s->frames.n; i++)
		if (!strcmp(s->frames.v[i], function))
			return true;
	return false;
}

/* Is stack @i of report @r there, and one that the test made? All are without a test. */
static bool is_own(const struct report *r, size_t i, const char *function)
{
	return i < r->nstacks && (!function || has_frame(&r->stacks[i], function) ||
				  has_frame(&r->stacks[i], NOT_AVAILABLE));
}

/*
 * A tag-based mode looks for who freed an object by address and tag, and can find who freed an
 * earlier object that lay there and had, by chance, the same tag.
 */
static bool is_earlier_free(const struct report *r, size_t i, const char *function)
{
	return i >= r->nstacks ||
	       (r->by_tag && !strcmp(r->stacks[i].what, FREED) && !is_own(r, i, function));
}

static bool same_report(const struct report *a, const struct report *b, const char *function,
			size_t index, FILE *out)
{
	size_t i, n = a->nstacks > b->nstacks ? a->nstacks : b->nstacks;
	bool same = true;

	if (strcmp(a->title, b->title)) {
		fprintf(out, "#   report %zu: \"%s\" here, \"%s\" there\n", index, a->title,
			b->title);
		same = false;
	}
	for (i = 0; i < n; i++) {
		const struct stack none = { .what = (char *)"no stack" };
		const struct stack *sa = i < a->nstacks ? &a->stacks[i] : &none;
		const struct stack *sb = i < b->nstacks ? &b->stacks[i] : &none;

		if (!strcmp(sa->what, sb->what) && same_frames(&sa->frames, &sb->frames))
			continue;
		if (is_earlier_free(a, i, function) && is_earlier_free(b, i, function)) {
			fprintf(out, "#   report %zu, %s: an earlier object's free, left out\n",
				index, a->title);
			continue;
		}
		same = false;
		fprintf(out, "#   report %zu, %s: %s | %s\n", index, a->title, sa->what, sb->what);
		print_side_by_side(out, &sa->frames, &sb->frames);
	}
	return same;
}

/* The function that a test is named after; NULL for what was reported outside of tests. */
static const char *test_function(const struct test_case *t)
{
	const char *dot = strrchr(t->name, '.');

	return dot ? dot + 1 : NULL;
}

/*
 * A test that reaches beside its own object can hit a neighbour: which one that is, and who
 * allocated it, depends on the state of the allocator. Such a report is known by a test's function
 * that is missing from the allocation stack. In a tag-based mode, it depends on the tags whether
 * anything is found of a neighbour, or of what lay there before, and what the bug is called then.
 */
static bool is_neighbour(const struct report *r, const struct test_case *t)
{
	const char *function = test_function(t);
	size_t i;

	if (r->nstacks && !strcmp(r->stacks[0].what, ALLOCATED))
		return !is_own(r, 0, function);
	for (i = 0; i < r->nstacks; i++)
		if (is_own(r, i, function))
			return false;
	return r->by_tag;
}

/*
 * Only where both logs say so: a stack that one kernel got wrong must not pass for it. Reports
 * without any stack have a name to compare.
 */
static bool both_neighbours(const struct test_case *a, const struct test_case *b, size_t i)
{
	return i < b->nreports && (a->reports[i].nstacks || b->reports[i].nstacks) &&
	       is_neighbour(&a->reports[i], a) && is_neighbour(&b->reports[i], b);
}

static bool same_test(const struct test_case *a, const struct test_case *b, FILE *out)
{
	size_t i, n = a->nreports < b->nreports ? a->nreports : b->nreports;
	bool same = true;

	if (a->status != b->status && strcmp(a->status, b->status)) {
		fprintf(out, "#   result: \"%s\" here, \"%s\" there\n", a->status, b->status);
		same = false;
	}
	if (a->nreports != b->nreports) {
		fprintf(out, "#   %zu reports here, %zu there\n", a->nreports, b->nreports);
		same = false;
	}
	for (i = 0; i < n; i++) {
		if (both_neighbours(a, b, i)) {
			fprintf(out, "#   report %zu, %s: a neighbour's object, left out\n", i + 1,
				a->reports[i].title);
			continue;
		}
		if (!same_report(&a->reports[i], &b->reports[i], test_function(a), i + 1,
				 out))
			same = false;
	}
	return same;
}

static const struct test_case *find_test(const struct stack_log *log, const char *name)
{
	size_t i;

	for (i = 0; i < log->ntests; i++)
		if (!strcmp(log->tests[i].name, name))
			return &log->tests[i];
	return NULL;
}

static size_t stacks_to_compare(const struct test_case *a, const struct test_case *b)
{
	size_t i, stacks = 0;

	for (i = 0; i < a->nreports; i++) {
		/* The other log may lack the report. */
		if (i < b->nreports ? both_neighbours(a, b, i) : is_neighbour(&a->reports[i], a))
			continue;
		stacks += a->reports[i].nstacks;
	}
	return stacks;
}

static void compare_test(const struct test_case *a, const struct test_case *b, FILE *out,
			 struct stack_result *res)
{
	size_t here = stacks_to_compare(a, b), there = stacks_to_compare(b, a);
	size_t reports = a->nreports > b->nreports ? a->nreports : b->nreports;
	size_t stacks = here > there ? here : there;
	bool same = same_test(a, b, out);

	if (same && !stacks) {
		res->skipped++;
		fprintf(out, "ok - %s # SKIP no stack to compare\n", a->name);
		return;
	}
	if (same)
		res->passed++;
	else
		res->failed++;
	fprintf(out, "%s - %s (%zu reports, %zu stacks)\n", same ? "ok" : "not ok", a->name,
		reports, stacks);
}

static bool has_record(const struct stack_log *log, const struct stack *rec)
{
	size_t i;

	for (i = 0; i < log->nrecords; i++)
		if (!strcmp(log->records[i].what, rec->what) &&
		    same_frames(&log->records[i].frames, &rec->frames))
			return true;
	return false;
}

static bool print_missing_records(const struct stack_log *a, const struct stack_log *b,
				  const char *where, FILE *out)
{
	bool missing = false;
	size_t i, j;

	for (i = 0; i < a->nrecords; i++) {
		if (has_record(b, &a->records[i]))
			continue;
		missing = true;
		fprintf(out, "#   only %s: %s\n", where, a->records[i].what);
		for (j = 0; j < a->records[i].frames.n; j++)
			fprintf(out, "#     %s\n", a->records[i].frames.v[j]);
	}
	return missing;
}

static void compare_records(const struct stack_log *a, const struct stack_log *b, FILE *out,
			    struct stack_result *res)
{
	bool differ;

	if (!a->has_records && !b->has_records)
		return;
	differ = print_missing_records(a, b, "here", out);
	differ |= print_missing_records(b, a, "there", out);
	if (differ)
		res->failed++;
	else
		res->passed++;
	fprintf(out, "%s - page_owner (%zu records; %zu and %zu that depend on others left out)\n",
		differ ? "not ok" : "ok", a->nrecords, a->left_out, b->left_out);
}

/**
 * stack_log_compare - compare two logs test by test
 * @a: one log ("here" in what is printed)
 * @b: the other ("there")
 * @out: where every test's result and every difference go
 * @res: the sums
 */
void stack_log_compare(const struct stack_log *a, const struct stack_log *b, FILE *out,
		       struct stack_result *res)
{
	const struct test_case *other;
	size_t i;

	memset(res, 0, sizeof(*res));
	for (i = 0; i < a->ntests; i++) {
		other = find_test(b, a->tests[i].name);
		if (other) {
			compare_test(&a->tests[i], other, out, res);
		} else {
			res->failed++;
			fprintf(out, "#   only here\nnot ok - %s\n", a->tests[i].name);
		}
	}
	for (i = 0; i < b->ntests; i++) {
		if (find_test(a, b->tests[i].name))
			continue;
		res->failed++;
		fprintf(out, "#   only there\nnot ok - %s\n", b->tests[i].name);
	}
	compare_records(a, b, out, res);
}

static bool load(const char *path, struct stack_log *log)
{
	char *text = read_file(path, NULL);

	memset(log, 0, sizeof(*log));
	if (!text) {
		bench_err("cannot read %s: %s; give two console logs", path, strerror(errno));
		return false;
	}
	stack_log_parse(text, log);
	free(text);
	if (log->problem) {
		bench_err("%s cannot be compared: %s; boot again with kunit.enable=1 kunit.filter_glob=kasan*, or page_owner=on and init mode pageowner, and keep the whole console log",
			  path, log->problem);
		return false;
	}
	return true;
}

static void usage(FILE *out)
{
	fputs("Usage: scs_bench stacks A.log B.log\n"
	      "\n"
	      "Compares the allocation, free and work-creation stacks of KASAN's reports, and\n"
	      "page_owner's stacks, in two console logs, function for function, test by test.\n"
	      "Exits with 0 if they agree, 1 if they differ, 2 if there is nothing to compare.\n",
	      out);
}

/**
 * cmd_stacks - the subcommand "stacks"
 * @argc: number of arguments
 * @argv: arguments, from the subcommand's name on
 *
 * Return: the exit code.
 */
int cmd_stacks(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct stack_log a, b = { 0 };
	struct stack_result res;
	int opt, ret = EXIT_UNUSABLE;

	optind = 1;
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h')
			usage(stdout);
		else
			bench_err("see scs_bench stacks --help");
		return opt == 'h' ? EXIT_OK : EXIT_UNUSABLE;
	}
	if (argc - optind != 2) {
		bench_err("stacks needs two console logs; see scs_bench stacks --help");
		return EXIT_UNUSABLE;
	}
	if (load(argv[optind], &a) && load(argv[optind + 1], &b)) {
		stack_log_compare(&a, &b, stdout, &res);
		printf("%u passed, %u failed, %u skipped\n", res.passed, res.failed, res.skipped);
		ret = res.failed ? EXIT_FAILED : EXIT_OK;
	}
	stack_log_free(&a);
	stack_log_free(&b);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/* The kernel's side of the shim: seq_file, debugfs and stack_trace_save(). */
#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>

/* Grace periods may be asked for. */
enum system_states system_state = SYSTEM_RUNNING;

const unsigned int shim_gfp_zero = (__force unsigned int)__GFP_ZERO;
const unsigned int shim_gfp_direct_reclaim = (__force unsigned int)__GFP_DIRECT_RECLAIM;

/* Those that tests save with. */
const unsigned int depot_gfp_kernel = (__force unsigned int)GFP_KERNEL;
const unsigned int depot_gfp_atomic = (__force unsigned int)GFP_ATOMIC;
const unsigned int depot_gfp_nowait = (__force unsigned int)GFP_NOWAIT;
const unsigned int depot_gfp_nofs = (__force unsigned int)GFP_NOFS;
/* What an allocation inside an allocation must have. */
const unsigned int depot_gfp_nested =
	(__force unsigned int)(__GFP_NORETRY | __GFP_NOMEMALLOC | __GFP_NOWARN);
const unsigned int depot_gfp_nolockdep = (__force unsigned int)__GFP_NOLOCKDEP;
const unsigned int depot_gfp_zone_bits = (__force unsigned int)GFP_ZONEMASK;

char *skip_spaces(const char *s)
{
	while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
		s++;
	return (char *)s;
}

unsigned long long strtoull(const char *s, char **end, int base);
long strtol(const char *s, char **end, int base);

unsigned long long simple_strtoull(const char *s, char **end, unsigned int base)
{
	return strtoull(s, end, base);
}

long simple_strtol(const char *s, char **end, unsigned int base)
{
	return strtol(s, end, base);
}

/* --- stack_trace_save() ---------------------------------------------------- */

/*
 * The functions that are really on the stack come first, up to the test's; from
 * there on the trace is what the test says.
 */
noinline __attribute__((no_sanitize("address", "thread")))
void arch_stack_walk(stack_trace_consume_fn consume_entry, void *cookie,
		     struct task_struct *task, struct pt_regs *regs)
{
	struct shim_thread *self = shim_self();
	void **frame;

	for (frame = __builtin_frame_address(0); *frame != self->trace_frame; frame = *frame) {
		if (!consume_entry(cookie, (unsigned long)frame[1]))
			return;
	}
	for (unsigned int i = 0; i < self->trace_len; i++) {
		if (!consume_entry(cookie, self->trace[i]))
			return;
	}
}

/* --- debugfs --------------------------------------------------------------- */

#define MAX_FILES	32

struct dentry {
	int used;
	char path[64];
	void *data;
	const struct file_operations *fops;
};

static struct dentry dentries[SHIM_NR_UNITS][MAX_FILES];

struct dentry *shim_debugfs_file(int unit, const char *name, unsigned short mode,
				 struct dentry *parent, void *data,
				 const struct file_operations *fops)
{
	for (unsigned int i = 0; i < MAX_FILES; i++) {
		struct dentry *dentry = &dentries[unit][i];

		if (dentry->used)
			continue;
		dentry->used = 1;
		dentry->data = data;
		dentry->fops = fops;
		shim_snprintf(dentry->path, sizeof(dentry->path), "%s%s%s",
			      parent ? parent->path : "", parent ? "/" : "", name);
		return dentry;
	}
	shim_fault("raise MAX_FILES");
}

struct dentry *shim_debugfs_dir(int unit, const char *name, struct dentry *parent)
{
	return shim_debugfs_file(unit, name, 0, parent, NULL, NULL);
}

void shim_debugfs_reset(int unit);
void shim_debugfs_reset(int unit)
{
	memset(dentries[unit], 0, sizeof(dentries[unit]));
}

static const struct dentry *find_file(int unit, const char *path)
{
	for (unsigned int i = 0; i < MAX_FILES; i++) {
		const struct dentry *dentry = &dentries[unit][i];

		if (dentry->used && dentry->fops && !strcmp(dentry->path, path))
			return dentry;
	}
	return NULL;
}

char *shim_debugfs_read(int unit, const char *path, unsigned long chunk,
			void (*between)(void *arg), void *arg)
{
	const struct dentry *dentry = find_file(unit, path);
	struct inode inode = {};
	struct file file = {};
	unsigned long len = 0, size = 4096;
	char *text;
	ssize_t n;

	if (!dentry)
		return NULL;
	inode.i_private = dentry->data;
	file.f_inode = &inode;
	file.f_op = dentry->fops;
	if (file.f_op->open && file.f_op->open(&inode, &file))
		return NULL;
	text = shim_libc_alloc(size);
	for (;;) {
		if (len + chunk >= size) {
			size = 2 * size + chunk;
			text = shim_libc_realloc(text, size);
		}
		n = file.f_op->read(&file, text + len, chunk, &file.f_pos);
		if (n < 0)
			shim_fault("reading %s: error %zd", path, n);
		if (!n)
			break;
		len += n;
		if (between)
			between(arg);
	}
	text[len] = 0;
	if (file.f_op->release)
		file.f_op->release(&inode, &file);
	return text;
}

long shim_debugfs_write(int unit, const char *path, const char *text)
{
	const struct dentry *dentry = find_file(unit, path);
	struct inode inode = {};
	struct file file = {};
	long ret;

	if (!dentry || !dentry->fops->write)
		return -ENOENT;
	inode.i_private = dentry->data;
	file.f_inode = &inode;
	file.f_op = dentry->fops;
	if (file.f_op->open && file.f_op->open(&inode, &file))
		return -EIO;
	ret = file.f_op->write(&file, text, strlen(text), &file.f_pos);
	if (file.f_op->release)
		file.f_op->release(&inode, &file);
	return ret;
}

/* --- seq_file -------------------------------------------------------------- */

int seq_open(struct file *file, const struct seq_operations *op)
{
	struct seq_file *m = shim_libc_alloc(sizeof(*m));

	m->op = op;
	m->file = file;
	file->private_data = m;
	return 0;
}

void *__seq_open_private(struct file *file, const struct seq_operations *op, int size)
{
	struct seq_file *m;

	seq_open(file, op);
	m = file->private_data;
	m->private = shim_libc_alloc(size);
	return m->private;
}

int seq_open_private(struct file *file, const struct seq_operations *op, int size)
{
	__seq_open_private(file, op, size);
	return 0;
}

int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	shim_libc_free(m->buf);
	shim_libc_free(m);
	return 0;
}

int seq_release_private(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	shim_libc_free(m->private);
	return seq_release(inode, file);
}

static void *single_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : SEQ_START_TOKEN;
}

static void *single_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void single_stop(struct seq_file *m, void *v)
{
}

int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data)
{
	struct seq_operations *op = shim_libc_alloc(sizeof(*op));

	*op = (struct seq_operations){
		.start = single_start, .next = single_next, .stop = single_stop, .show = show,
	};
	seq_open(file, op);
	((struct seq_file *)file->private_data)->private = data;
	return 0;
}

int single_release(struct inode *inode, struct file *file)
{
	const struct seq_operations *op = ((struct seq_file *)file->private_data)->op;

	seq_release(inode, file);
	shim_libc_free((void *)op);
	return 0;
}

loff_t seq_lseek(struct file *file, loff_t offset, int whence)
{
	return -ESPIPE;
}

int seq_write(struct seq_file *m, const void *data, size_t size)
{
	if (m->count + size < m->size) {
		memcpy(m->buf + m->count, data, size);
		m->count += size;
		return 0;
	}
	m->count = m->size;
	return -1;
}

void seq_puts(struct seq_file *m, const char *s)
{
	seq_write(m, s, strlen(s));
}

void seq_putc(struct seq_file *m, char c)
{
	seq_write(m, &c, 1);
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;
	int n;

	if (m->count >= m->size)
		return;
	va_start(args, fmt);
	n = shim_vsnprintf(m->buf + m->count, m->size - m->count, fmt, args);
	va_end(args);
	m->count = m->count + n < m->size ? m->count + n : m->size;
}

/* Shows the first record from m->index on that is not empty, however large the buffer must be. */
static void *show_first(struct seq_file *m, int *err)
{
	void *p = m->op->start(m, &m->index);

	for (;;) {
		*err = PTR_ERR_OR_ZERO(p);
		if (!p || *err)
			return p;
		*err = m->op->show(m, p);
		if (*err < 0)
			return p;
		if (*err) {
			*err = 0;
			m->count = 0;
		}
		if (!m->count) {
			p = m->op->next(m, p, &m->index);
			continue;
		}
		if (!seq_has_overflowed(m))
			return p;
		m->op->stop(m, p);
		shim_libc_free(m->buf);
		m->count = 0;
		m->size *= 2;
		m->buf = shim_libc_alloc(m->size);
		p = m->op->start(m, &m->index);
	}
}

ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	size_t copied = 0, n, before;
	loff_t pos;
	int err;
	void *p;

	if (!*ppos) {
		m->index = 0;
		m->count = 0;
	}
	if (!m->buf) {
		m->size = PAGE_SIZE;
		m->buf = shim_libc_alloc(m->size);
	}
	/* What the last read() had no room for. */
	n = min(m->count, size);
	memcpy(buf, m->buf + m->from, n);
	m->count -= n;
	m->from += n;
	copied = n;
	if (m->count || copied == size)
		goto done;

	m->from = 0;
	p = show_first(m, &err);
	if (p && !err) {
		/* As many more as the reader has room for. */
		for (;;) {
			before = m->count;
			pos = m->index;
			p = m->op->next(m, p, &m->index);
			if (pos == m->index)
				shim_fault("a seq_operations' next() leaves *pos as it was");
			if (IS_ERR_OR_NULL(p) || m->count >= size - copied)
				break;
			err = m->op->show(m, p);
			if (err > 0) {
				m->count = before;
			} else if (err || seq_has_overflowed(m)) {
				m->count = before;
				break;
			}
		}
		err = 0;
	}
	m->op->stop(m, p);
	if (err)
		return copied ? (ssize_t)copied : err;
	n = min(m->count, size - copied);
	memcpy(buf + copied, m->buf, n);
	copied += n;
	m->count -= n;
	m->from = n;
done:
	*ppos += copied;
	return copied;
}

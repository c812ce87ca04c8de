/* SPDX-License-Identifier: GPL-2.0 */
/* seq_file: records are shown one by one into a buffer, which read() hands out in parts. */
#ifndef SHIM_LINUX_SEQ_FILE_H
#define SHIM_LINUX_SEQ_FILE_H

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>

struct seq_operations;

struct seq_file {
	char *buf;
	size_t size;
	size_t from;
	size_t count;
	loff_t index;
	const struct seq_operations *op;
	const struct file *file;
	void *private;
};

struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);
	void (*stop)(struct seq_file *m, void *v);
	void *(*next)(struct seq_file *m, void *v, loff_t *pos);
	int (*show)(struct seq_file *m, void *v);
};

#define SEQ_SKIP	1
#define SEQ_START_TOKEN	((void *)1)

int seq_open(struct file *file, const struct seq_operations *op);
void *__seq_open_private(struct file *file, const struct seq_operations *op, int size);
int seq_open_private(struct file *file, const struct seq_operations *op, int size);
int seq_release(struct inode *inode, struct file *file);
int seq_release_private(struct inode *inode, struct file *file);
int single_open(struct file *file, int (*show)(struct seq_file *m, void *v), void *data);
int single_release(struct inode *inode, struct file *file);
ssize_t seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos);
loff_t seq_lseek(struct file *file, loff_t offset, int whence);
void seq_printf(struct seq_file *m, const char *fmt, ...);
void seq_puts(struct seq_file *m, const char *s);
void seq_putc(struct seq_file *m, char c);
int seq_write(struct seq_file *m, const void *data, size_t size);

static inline bool seq_has_overflowed(struct seq_file *m)
{
	return m->count == m->size;
}

#define DEFINE_SHOW_ATTRIBUTE(name)						\
static int name##_open(struct inode *inode, struct file *file)			\
{										\
	return single_open(file, name##_show, inode->i_private);		\
}										\
static const struct file_operations name##_fops = {				\
	.owner = THIS_MODULE, .open = name##_open, .read = seq_read,		\
	.llseek = seq_lseek, .release = single_release,				\
}

#define DEFINE_SEQ_ATTRIBUTE(name)						\
static int name##_open(struct inode *inode, struct file *file)			\
{										\
	int ret = seq_open(file, &name##_sops);					\
										\
	if (!ret && inode->i_private)						\
		((struct seq_file *)file->private_data)->private = inode->i_private; \
	return ret;								\
}										\
static const struct file_operations name##_fops = {				\
	.owner = THIS_MODULE, .open = name##_open, .read = seq_read,		\
	.llseek = seq_lseek, .release = seq_release,				\
}

#endif /* SHIM_LINUX_SEQ_FILE_H */

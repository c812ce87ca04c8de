/* SPDX-License-Identifier: GPL-2.0 */
/* The part of an open file that debugfs needs. */
#ifndef SHIM_LINUX_FS_H
#define SHIM_LINUX_FS_H

#include <linux/types.h>
#include <linux/export.h>
#include <linux/errno.h>
#include <linux/kernel.h>

struct module;

struct inode {
	void *i_private;
};

struct file {
	const struct file_operations *f_op;
	struct inode *f_inode;
	loff_t f_pos;
	void *private_data;
};

struct file_operations {
	struct module *owner;
	int (*open)(struct inode *inode, struct file *file);
	ssize_t (*read)(struct file *file, char __user *buf, size_t size, loff_t *pos);
	ssize_t (*write)(struct file *file, const char __user *buf, size_t size, loff_t *pos);
	loff_t (*llseek)(struct file *file, loff_t offset, int whence);
	int (*release)(struct inode *inode, struct file *file);
};

#define file_inode(file)	((file)->f_inode)

#endif /* SHIM_LINUX_FS_H */

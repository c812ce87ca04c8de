/* SPDX-License-Identifier: GPL-2.0 */
/* debugfs, which tests read with shim_debugfs_read(). */
#ifndef SHIM_LINUX_DEBUGFS_H
#define SHIM_LINUX_DEBUGFS_H

#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/err.h>

struct dentry *shim_debugfs_dir(int unit, const char *name, struct dentry *parent);
struct dentry *shim_debugfs_file(int unit, const char *name, unsigned short mode,
				 struct dentry *parent, void *data,
				 const struct file_operations *fops);

#define debugfs_create_dir(name, parent)	shim_debugfs_dir(SHIM_UNIT, name, parent)
#define debugfs_create_file(name, mode, parent, data, fops) \
	shim_debugfs_file(SHIM_UNIT, name, mode, parent, data, fops)
#define debugfs_create_file_unsafe		debugfs_create_file

#endif /* SHIM_LINUX_DEBUGFS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of what is built in: those that a test sets by name are of one type each. */
#ifndef SHIM_LINUX_MODULE_H
#define SHIM_LINUX_MODULE_H

#include <linux/init.h>
#include <linux/export.h>
#include <linux/kstrtox.h>

#define THIS_MODULE		NULL
#define MODULE_LICENSE(s)
#define MODULE_DESCRIPTION(s)
#define MODULE_AUTHOR(s)
#define MODULE_PARM_DESC(n, s)

#endif /* SHIM_LINUX_MODULE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* User memory is just memory. */
#ifndef SHIM_LINUX_UACCESS_H
#define SHIM_LINUX_UACCESS_H

#include <linux/minmax.h>
#include <linux/string.h>

#define copy_to_user(to, from, n)	(memcpy(to, from, n), 0UL)
#define copy_from_user(to, from, n)	(memcpy(to, from, n), 0UL)

#endif /* SHIM_LINUX_UACCESS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Boot parameters and initcalls, which the test makes. */
#ifndef SHIM_LINUX_INIT_H
#define SHIM_LINUX_INIT_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <shim/shim.h>

#define __init
#define __exit
#define __initdata
#define __initconst
#define __ref
#define __refdata

#define early_param(name, fn)						\
static void __attribute__((constructor)) shim_param_##fn(void)		\
{									\
	shim_register_param(SHIM_UNIT, name, fn);			\
}

#define __setup(name, fn)	early_param(name, fn)

#define late_initcall(fn)						\
static void __attribute__((constructor)) shim_initcall_##fn(void)	\
{									\
	shim_register_initcall(SHIM_UNIT, fn);				\
}

#define core_initcall		late_initcall
#define postcore_initcall	late_initcall
#define arch_initcall		late_initcall
#define subsys_initcall		late_initcall
#define fs_initcall		late_initcall
#define device_initcall		late_initcall
#define module_init		late_initcall

#endif /* SHIM_LINUX_INIT_H */

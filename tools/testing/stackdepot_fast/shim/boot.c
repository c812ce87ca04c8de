// SPDX-License-Identifier: GPL-2.0
/* Boot: parameters, initcalls, CPUs' copies of per-CPU data, and how to start over. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define MAX_PARAMS	32
#define MAX_INITCALLS	16

static struct unit_boot {
	struct {
		const char *name;
		shim_param_fn fn;
	} params[MAX_PARAMS];
	unsigned int nr_params;
	shim_initcall_fn initcalls[MAX_INITCALLS];
	unsigned int nr_initcalls;
	/* The depot's data, and how it was at first. */
	unsigned char *data, *data_end, *first;
	unsigned char *percpu, *percpu_end;
	unsigned char *percpu_copies;
} units[SHIM_NR_UNITS + 1];

unsigned long shim_percpu_offset[SHIM_NR_UNITS + 1][SHIM_NR_CPUS];

unsigned long shim_text = 0xffff800080000000UL;
unsigned long shim_etext = 0xffff800081000000UL;
unsigned long shim_end = 0xffff800082000000UL;
unsigned long shim_modules = 0xffff80007a000000UL;
unsigned long shim_modules_end = 0xffff800080000000UL;

void shim_register_param(int unit, const char *name, shim_param_fn fn)
{
	struct unit_boot *u = &units[unit];

	if (u->nr_params == MAX_PARAMS)
		shim_fault("raise MAX_PARAMS");
	u->params[u->nr_params].name = name;
	u->params[u->nr_params++].fn = fn;
}

void shim_register_initcall(int unit, shim_initcall_fn fn)
{
	struct unit_boot *u = &units[unit];

	if (u->nr_initcalls == MAX_INITCALLS)
		shim_fault("raise MAX_INITCALLS");
	u->initcalls[u->nr_initcalls++] = fn;
}

int shim_boot_param(int unit, const char *name, const char *value)
{
	struct unit_boot *u = &units[unit];
	char *copy = value ? strdup(value) : NULL;
	int ret = -1;

	for (unsigned int i = 0; i < u->nr_params; i++) {
		if (!strcmp(u->params[i].name, name))
			ret = u->params[i].fn(copy);
	}
	free(copy);
	return ret;
}

void shim_run_initcalls(int unit)
{
	for (unsigned int i = 0; i < units[unit].nr_initcalls; i++)
		units[unit].initcalls[i]();
}

/*
 * Word by word and uninstrumented: between a depot's variables are the
 * sanitizer's red zones. Volatile keeps it from being made a call of memcpy().
 */
__attribute__((no_sanitize("address", "thread", "undefined"), noinline))
static void copy_raw(unsigned char *to, const unsigned char *from, size_t n)
{
	for (size_t i = 0; i < n / 8; i++)
		((volatile unsigned long *)to)[i] = ((const volatile unsigned long *)from)[i];
	for (size_t i = n & ~7UL; i < n; i++)
		((volatile unsigned char *)to)[i] = ((const volatile unsigned char *)from)[i];
}

void shim_register_data(int unit, void *data, void *data_end, void *percpu, void *percpu_end)
{
	struct unit_boot *u = &units[unit];
	size_t size = (unsigned char *)data_end - (unsigned char *)data;
	size_t stride;

	u->data = data;
	u->data_end = data_end;
	u->first = malloc(size);
	copy_raw(u->first, u->data, size);

	u->percpu = percpu;
	u->percpu_end = percpu_end;
	stride = (u->percpu_end - u->percpu + 127) & ~127UL;
	if (stride) {
		u->percpu_copies = aligned_alloc(128, stride * SHIM_NR_CPUS);
		for (int cpu = 0; cpu < SHIM_NR_CPUS; cpu++)
			shim_percpu_offset[unit][cpu] = (unsigned long)u->percpu_copies +
				cpu * stride - (unsigned long)u->percpu;
		for (int cpu = 0; cpu < SHIM_NR_CPUS; cpu++)
			copy_raw(u->percpu_copies + cpu * stride, u->percpu,
				 u->percpu_end - u->percpu);
	}
}

unsigned long shim_statics(int unit)
{
	struct unit_boot *u = &units[unit];

	return (u->data_end - u->data) + (u->percpu_end - u->percpu) * SHIM_NR_CPUS;
}

void shim_reboot(int unit)
{
	struct unit_boot *u = &units[unit];

	copy_raw(u->data, u->first, u->data_end - u->data);
	for (int cpu = 0; cpu < SHIM_NR_CPUS && u->percpu_copies; cpu++)
		copy_raw((void *)((unsigned long)u->percpu + shim_percpu_offset[unit][cpu]),
			 u->percpu, u->percpu_end - u->percpu);
	shim_debugfs_reset(unit);
	shim_mem_reset(unit);
}

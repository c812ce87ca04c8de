/* SPDX-License-Identifier: GPL-2.0 */
/* The CPUs that there are. */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

#include <linux/bitmap.h>
#include <shim/shim.h>

#define NR_CPUS				SHIM_NR_CPUS
#define nr_cpu_ids			SHIM_NR_CPUS
#define num_possible_cpus()		SHIM_NR_CPUS
#define num_online_cpus()		SHIM_NR_CPUS
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < SHIM_NR_CPUS; (cpu)++)
#define for_each_online_cpu(cpu)	for_each_possible_cpu(cpu)

#endif /* SHIM_LINUX_CPUMASK_H */

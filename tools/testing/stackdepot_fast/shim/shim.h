/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What stands in for the kernel around a depot: contexts, memory, grace periods, the log, debugfs.
 *
 * Both sides include it: files of the kernel, which see no libc header, and
 * the tests, which see no header of the kernel. So it uses plain C types.
 *
 * A "unit" is one depot with all that it registered and allocated.
 */
#ifndef SHIM_H
#define SHIM_H

#define SHIM_NR_CPUS		8
#define SHIM_MAX_THREADS	128

enum shim_unit {
	SHIM_UPSTREAM,
	SHIM_FAST,
	SHIM_NR_UNITS,
};

/* --- Threads and contexts ------------------------------------------------- */

struct shim_thread {
	int cpu;
	/* Reasons for being a reader: preemption off, interrupts off, RCU, a handler. */
	unsigned int reader_nest;
	/* The grace-period number that was seen when reading began; 0 outside. */
	unsigned long epoch;
	/* How much of that is the context that the test put the thread in. */
	unsigned int context_nest;
	/* What keeps it on its CPU: preemption or interrupts off. */
	unsigned int pins;
	/* It is in the C library, where no handler may allocate. */
	unsigned int libc_busy;
	unsigned int irqs_off;
	unsigned int preempt_off;
	unsigned int rcu_nest;
	unsigned int raw_locks;
	unsigned int nmi;
	unsigned int hardirq;
	unsigned int softirq;
	/* An interrupt came while they were off. */
	int irq_pending;
	unsigned int id;
	/* Allocations until one fails; 0: none. Then they fail with @fail_percent. */
	unsigned long fail_nth;
	unsigned int fail_percent;
	unsigned long long seed;
	/* What stack_trace_save() finds below the function whose frame address this is. */
	void *trace_frame;
	const unsigned long *trace;
	unsigned int trace_len;
	/* Its shadow call stack, the oldest entry first; none if scs_top is NULL. */
	const unsigned long *scs_base, *scs_top;
	/* Whether it has all of the trace. */
	int scs_whole;
	/* Called by each allocation, as an allocator's own user of the depot would be. */
	void (*alloc_hook)(void *arg);
	void *alloc_hook_arg;
	/* Called before each spinlock is taken, as others who get there first. */
	void (*lock_hook)(void);
	/* Called with each spinlock that was taken, as others who find it taken. */
	void (*locked_hook)(void);
	/* Called before interrupts go off, as for a lock of any kind: others, or an interrupt. */
	void (*irq_hook)(void);
	/* After smp_mb__before_atomic(), for ThreadSanitizer. */
	int fenced;
	/* Inside printk_deferred_enter(). */
	unsigned int deferring;
} __attribute__((aligned(128)));	/* Per CPU, so no two in a cache line. */

extern __thread struct shim_thread *shim_self_ptr
	__attribute__((tls_model("initial-exec")));
struct shim_thread *shim_thread_new(void);

static inline struct shim_thread *shim_self(void)
{
	struct shim_thread *self = shim_self_ptr;

	return __builtin_expect(!self, 0) ? shim_thread_new() : self;
}

extern unsigned long shim_gp;

/*
 * A handler that runs on this thread between the two steps publishes an epoch of
 * its own. Data is read after the epoch was stored: shim_rcu_advance() makes the
 * processor's order that of the program (membarrier).
 */
static inline void shim_reader_enter(struct shim_thread *self)
{
	if (!self->reader_nest++)
		__atomic_store_n(&self->epoch, __atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void shim_reader_exit(struct shim_thread *self)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!--self->reader_nest)
		__atomic_store_n(&self->epoch, 0, __ATOMIC_RELEASE);
}

/*
 * Which CPU this thread is on. Threads may share one, as when one preempts the
 * other; with shim_cpu_exclusive, one that is pinned keeps the others out of
 * the regions that need pinning.
 */
void shim_set_cpu(int cpu);
extern int shim_cpu_exclusive;
void shim_cpu_claim(struct shim_thread *self);
void shim_cpu_release(struct shim_thread *self);

static inline void shim_pin(struct shim_thread *self)
{
	if (!self->pins++ && __builtin_expect(shim_cpu_exclusive, 0))
		shim_cpu_claim(self);
}

static inline void shim_unpin(struct shim_thread *self)
{
	if (!--self->pins && __builtin_expect(shim_cpu_exclusive, 0))
		shim_cpu_release(self);
}

/*
 * The thread runs as a handler until it leaves. Signal handlers of a test may
 * enter them: then 0 means that such a thing could not happen right now, because
 * interrupts are off (the handler is called once they are on again) or because
 * another thread has the CPU.
 */
int shim_nmi_enter(void);
void shim_nmi_exit(void);
int shim_hardirq_enter(void);
void shim_hardirq_exit(void);
void shim_softirq_enter(void);
void shim_softirq_exit(void);
/* A caller's interrupts or preemption off; nothing that the depot may not allocate in. */
void shim_atomic_enter(void);
void shim_atomic_exit(void);

/* Called once interrupts are on again after shim_hardirq_enter() returned 0. */
extern void (*shim_irq_handler)(void);
void shim_irq_run_pending(void);

/* Calls one of a thread's hooks, which may do anything that calls it again. */
static inline void shim_call_hook(void (**where)(void))
{
	void (*hook)(void) = *where;

	if (__builtin_expect(!hook, 1))
		return;
	*where = 0;
	hook();
	*where = hook;
}

/* --- Grace periods -------------------------------------------------------- */

/* Whether polling for a grace period also tries to end one. */
extern int shim_rcu_poll_advances;
/* Ends a grace period if no reader stands in the way; whether it did. */
int shim_rcu_advance(void);
unsigned long shim_rcu_get_state(void);
/* As it may wake a kthread, only where the caller may block. */
unsigned long shim_rcu_start_poll(void);
int shim_rcu_poll_state(unsigned long state);
void shim_rcu_synchronize(void);

/* --- Faults and the log --------------------------------------------------- */

/* Something that the kernel would not survive: says so and ends the process. */
void shim_fault(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn, cold));
/* A kernel WARN(). Unless expected, that is a fault, too. */
void shim_warn(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));
void shim_expect_warnings(int expect);
/* Those with this text in them are expected in any case; NULL: none are. */
void shim_expect_text(const char *text);
unsigned long shim_warnings(void);
/* Those of them that were deferred, so that no console is called. */
unsigned long shim_warnings_deferred(void);
/* Its format knows %pS and the like. */
void shim_printk(const char *fmt, ...) __attribute__((cold));
/* The log since it was cleared. */
const char *shim_log(void);
void shim_log_clear(void);

/* --- Memory ---------------------------------------------------------------- */

void *shim_pages_alloc(int unit, unsigned int gfp, unsigned int order);
void shim_pages_free(int unit, void *addr, unsigned int order);
void *shim_mem_alloc(int unit, unsigned long size, unsigned long align, unsigned int gfp);
void shim_mem_free(int unit, const void *addr);
void *shim_early_alloc(int unit, unsigned long size, unsigned long align);

struct shim_mem {
	unsigned long pages;		/* of 4096 bytes, in use */
	unsigned long heap;		/* bytes in use of other allocators */
	unsigned long statics;		/* bytes of data and bss */
	unsigned long allocs;		/* calls that got memory */
	unsigned long failures;		/* calls that were made to fail */
	unsigned int last_gfp;
};

struct shim_mem shim_mem(int unit);
/* What nr_free_buffer_pages() says. */
extern unsigned long shim_free_buffer_pages;
/* Fails each allocation that a thread makes, until turned off. */
extern int shim_fail_all;
/* Whether kasan_enabled(). */
extern int shim_kasan_enabled;
extern unsigned long shim_percpu_offset[SHIM_NR_UNITS + 1][SHIM_NR_CPUS];

/* --- Boot ------------------------------------------------------------------ */

typedef int (*shim_param_fn)(char *arg);
typedef int (*shim_initcall_fn)(void);
void shim_register_param(int unit, const char *name, shim_param_fn fn);
void shim_register_initcall(int unit, shim_initcall_fn fn);
void shim_register_data(int unit, void *data, void *data_end, void *percpu, void *percpu_end);
/* Puts a depot's data back as it was when the process started and frees all that it had. */
void shim_reboot(int unit);
/* As on the kernel's command line; -1 where no such parameter is known. */
int shim_boot_param(int unit, const char *name, const char *value);
void shim_run_initcalls(int unit);

/* --- debugfs --------------------------------------------------------------- */

/*
 * Reads file @path ("stackdepot/stats") of @unit to its end, @chunk bytes at a
 * time, into a string that the caller frees; NULL if there is none. @between is
 * called after each read().
 */
char *shim_debugfs_read(int unit, const char *path, unsigned long chunk,
			void (*between)(void *arg), void *arg);
/* Writes to it; what write() returned. */
long shim_debugfs_write(int unit, const char *path, const char *text);

/* --- Addresses ------------------------------------------------------------- */

/* Where kernel text and modules lie. */
extern unsigned long shim_text, shim_etext, shim_end, shim_modules, shim_modules_end;
/*
 * Where exceptions enter the kernel, and where their handlers begin: numbers, as
 * these are for the kernel's own code. Just below the text, so that no address of
 * a recorded stream is among them.
 */
#define SHIM_ENTRY_TEXT			0xffff80007fff0000UL
#define SHIM_ENTRY_TEXT_END		0xffff80007fff2000UL
#define SHIM_IRQENTRY_TEXT		0xffff80007fff4000UL
#define SHIM_IRQENTRY_TEXT_END		0xffff80007fff5000UL
#define SHIM_SOFTIRQENTRY_TEXT		0xffff80007fff5000UL
#define SHIM_SOFTIRQENTRY_TEXT_END	0xffff80007fff6000UL

/* --- Other ----------------------------------------------------------------- */

unsigned int shim_random_u32(void);
unsigned long long shim_time_ns(void);
int shim_vsnprintf(char *buf, unsigned long size, const char *fmt, __builtin_va_list args);
int shim_snprintf(char *buf, unsigned long size, const char *fmt, ...);
void *shim_libc_alloc(unsigned long size);
void *shim_libc_realloc(void *p, unsigned long size);
void shim_libc_free(void *p);

#endif /* SHIM_H */

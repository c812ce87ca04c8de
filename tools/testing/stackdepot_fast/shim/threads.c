// SPDX-License-Identifier: GPL-2.0
/* Threads as CPUs see them, grace periods, and the locks that wait. */
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

/* --- Threads --------------------------------------------------------------- */

__thread struct shim_thread *shim_self_ptr;
static struct shim_thread threads[SHIM_MAX_THREADS];
static unsigned char thread_used[SHIM_MAX_THREADS];
static unsigned int nr_threads;
static pthread_key_t thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

/* By CPU: the id of the thread that has it. */
static unsigned int cpu_owner[SHIM_NR_CPUS];
int shim_cpu_exclusive;
void (*shim_irq_handler)(void);

static void thread_gone(void *arg)
{
	struct shim_thread *self = arg;

	if (self->reader_nest)
		shim_fault("a thread ends as a reader, or with preemption or interrupts off");
	__atomic_store_n(&thread_used[self - threads], 0, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&nr_threads, 1, __ATOMIC_SEQ_CST);
}

static void thread_setup(void)
{
	if (pthread_key_create(&thread_key, thread_gone))
		shim_fault("pthread_key_create");
	syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

struct shim_thread *shim_thread_new(void)
{
	pthread_once(&thread_once, thread_setup);
	for (unsigned int i = 0; i < SHIM_MAX_THREADS; i++) {
		unsigned char expected = 0;

		if (!__atomic_compare_exchange_n(&thread_used[i], &expected, 1, 0,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_add(&nr_threads, 1, __ATOMIC_SEQ_CST);
		/* The epoch is 0 already, and others may be looking at it. */
		memset(&threads[i], 0, offsetof(struct shim_thread, epoch));
		memset((char *)&threads[i] + offsetof(struct shim_thread, context_nest), 0,
		       sizeof(threads[i]) - offsetof(struct shim_thread, context_nest));
		threads[i].cpu = i % SHIM_NR_CPUS;
		threads[i].id = i + 1;
		threads[i].seed = i * 0x9e3779b97f4a7c15ULL + 1;
		shim_self_ptr = &threads[i];
		pthread_setspecific(thread_key, shim_self_ptr);
		return shim_self_ptr;
	}
	shim_fault("more than %d threads: raise SHIM_MAX_THREADS", SHIM_MAX_THREADS);
}

void shim_set_cpu(int cpu)
{
	if (shim_self()->pins)
		shim_fault("a thread with preemption or interrupts off moves to another CPU");
	shim_self()->cpu = cpu;
}

static int cpu_try_claim(struct shim_thread *self)
{
	unsigned int nobody = 0;

	return __atomic_compare_exchange_n(&cpu_owner[self->cpu], &nobody, self->id, 0,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void shim_cpu_claim(struct shim_thread *self)
{
	while (!cpu_try_claim(self))
		sched_yield();
}

void shim_cpu_release(struct shim_thread *self)
{
	if (__atomic_load_n(&cpu_owner[self->cpu], __ATOMIC_RELAXED) == self->id)
		__atomic_store_n(&cpu_owner[self->cpu], 0, __ATOMIC_RELEASE);
}

/* --- Contexts -------------------------------------------------------------- */

/*
 * A handler may come between any two instructions of its own thread's
 * shim_pin() or shim_reader_enter(): it looks at what they have done, not at
 * how far the counters are.
 */
struct handler_state {
	unsigned int pins;
	unsigned int context_nest;
	unsigned int raw_locks;
	int fenced;
	int claimed;
	int published;
};

static __thread struct handler_state handler_states[8];
static __thread unsigned int handler_depth;

static int handler_enter(struct shim_thread *self)
{
	struct handler_state *state = &handler_states[handler_depth];

	/* First and last: another handler may come at any time. */
	handler_depth++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	state->claimed = 0;
	if (shim_cpu_exclusive &&
	    __atomic_load_n(&cpu_owner[self->cpu], __ATOMIC_RELAXED) != self->id) {
		if (!cpu_try_claim(self)) {
			handler_depth--;
			return 0;
		}
		state->claimed = 1;
	}
	state->pins = self->pins;
	self->pins = 1;
	state->published = !self->epoch;
	if (state->published)
		__atomic_store_n(&self->epoch, __atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	self->reader_nest++;
	/* What was interrupted had its locks; the handler has none. */
	state->context_nest = self->context_nest;
	self->context_nest = self->reader_nest;
	state->raw_locks = self->raw_locks;
	self->raw_locks = 0;
	state->fenced = self->fenced;
	self->fenced = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

static void handler_exit(struct shim_thread *self)
{
	struct handler_state *state = &handler_states[handler_depth - 1];

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	self->raw_locks = state->raw_locks;
	self->fenced = state->fenced;
	self->context_nest = state->context_nest;
	self->reader_nest--;
	if (state->published)
		__atomic_store_n(&self->epoch, 0, __ATOMIC_RELEASE);
	self->pins = state->pins;
	if (state->claimed)
		shim_cpu_release(self);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	handler_depth--;
}

int shim_nmi_enter(void)
{
	struct shim_thread *self = shim_self();

	if (self->nmi || !handler_enter(self))
		return 0;
	self->nmi++;
	return 1;
}

void shim_nmi_exit(void)
{
	struct shim_thread *self = shim_self();

	self->nmi--;
	handler_exit(self);
}

int shim_hardirq_enter(void)
{
	struct shim_thread *self = shim_self();

	if (self->nmi)
		return 0;
	if (self->irqs_off || self->libc_busy || self->hardirq) {
		self->irq_pending = 1;
		return 0;
	}
	if (!handler_enter(self))
		return 0;
	self->hardirq++;
	self->irqs_off = 1;
	return 1;
}

void shim_hardirq_exit(void)
{
	struct shim_thread *self = shim_self();

	self->irqs_off = 0;
	self->hardirq--;
	handler_exit(self);
}

void shim_irq_run_pending(void)
{
	struct shim_thread *self = shim_self();

	if (self->nmi || self->hardirq || self->irqs_off || self->libc_busy)
		return;
	self->irq_pending = 0;
	if (shim_irq_handler)
		shim_irq_handler();
	shim_irq_work_run();
}

void shim_softirq_enter(void)
{
	shim_self()->softirq++;
	shim_atomic_enter();
}

void shim_softirq_exit(void)
{
	shim_atomic_exit();
	shim_self()->softirq--;
}

void shim_atomic_enter(void)
{
	struct shim_thread *self = shim_self();

	self->preempt_off++;
	shim_pin(self);
	shim_reader_enter(self);
	self->context_nest++;
}

void shim_atomic_exit(void)
{
	struct shim_thread *self = shim_self();

	self->context_nest--;
	shim_reader_exit(self);
	shim_unpin(self);
	self->preempt_off--;
}

void __might_sleep(const char *file, int line)
{
	struct shim_thread *self = shim_self();

	if (self->reader_nest || self->nmi || self->hardirq || self->softirq)
		shim_fault("%s:%d may sleep where that is not allowed", file, line);
}

/* --- Grace periods --------------------------------------------------------- */

/*
 * As in any epoch scheme: the number goes up once no reader is left that began
 * before it last went up, so two steps after a record was unlinked nobody can
 * still be looking at it.
 */
unsigned long shim_gp = 1;
int shim_rcu_poll_advances = 1;

int shim_rcu_advance(void)
{
	unsigned long gp = __atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE);

	/* As a thread that is counted; the first one registers the process for membarrier(). */
	shim_self();
	/*
	 * From here on each reader either has its epoch where it can be seen or
	 * sees what was unlinked before. Valgrind has no membarrier(), and runs
	 * one thread at a time anyway.
	 */
	if (__atomic_load_n(&nr_threads, __ATOMIC_SEQ_CST) > 1 &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) && errno != ENOSYS)
		shim_fault("membarrier(): %s", strerror(errno));
	for (unsigned int i = 0; i < SHIM_MAX_THREADS; i++) {
		unsigned long epoch = __atomic_load_n(&threads[i].epoch, __ATOMIC_ACQUIRE);

		if (epoch && epoch < gp)
			return 0;
	}
	__atomic_compare_exchange_n(&shim_gp, &gp, gp + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return 1;
}

unsigned long shim_rcu_get_state(void)
{
	return __atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE) + 2;
}

unsigned long shim_rcu_start_poll(void)
{
	struct shim_thread *self = shim_self();

	/* Preemption off or a reader, whoever made it so; each of the others says why. */
	if (self->irqs_off || self->raw_locks || self->nmi || self->hardirq || self->softirq ||
	    self->reader_nest)
		shim_fault("a grace period is started where its kthread can't be woken");
	return shim_rcu_get_state();
}

int shim_rcu_poll_state(unsigned long state)
{
	while (__atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE) < state) {
		if (!shim_rcu_poll_advances || !shim_rcu_advance())
			return 0;
	}
	return 1;
}

void shim_rcu_synchronize(void)
{
	unsigned long state = shim_rcu_get_state();

	__might_sleep("synchronize_rcu()", 0);
	while (__atomic_load_n(&shim_gp, __ATOMIC_ACQUIRE) < state) {
		if (!shim_rcu_advance())
			sched_yield();
	}
}

/* --- Waiting --------------------------------------------------------------- */

struct shim_lock {
	unsigned int locked;
	unsigned int owner;
};

/* One step of waiting for @lock; too many of them are a deadlock. */
static void wait_step(struct shim_lock *lock, const char *what)
{
	static __thread time_t since;
	static __thread struct shim_lock *last;
	struct timespec now;

	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == shim_self()->id)
		shim_fault("a thread takes a %s that it holds", what);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (last != lock) {
		last = lock;
		since = now.tv_sec;
	}
	if (now.tv_sec - since > 60)
		shim_fault("a %s was not to be had for a minute", what);
	sched_yield();
}

void shim_spin_wait(struct shim_lock *lock)
{
	if (shim_self()->nmi)
		shim_fault("an NMI spins on a lock");
	for (unsigned int i = 0; i < 200; i++) {
		if (!__atomic_load_n(&lock->locked, __ATOMIC_RELAXED))
			return;
		__builtin_ia32_pause();
	}
	wait_step(lock, "raw spinlock");
}

void shim_cpu_yield(void)
{
	sched_yield();
}

void shim_cpu_relax(void)
{
	static __thread unsigned int calls;

	if (shim_self()->nmi)
		shim_fault("an NMI waits for something");
	if (!(++calls % 64))
		sched_yield();
}

int mutex_trylock(struct shim_lock *lock)
{
	if (__atomic_exchange_n(&lock->locked, 1, __ATOMIC_ACQUIRE))
		return 0;
	__atomic_store_n(&lock->owner, shim_self()->id, __ATOMIC_RELAXED);
	return 1;
}

void mutex_lock(struct shim_lock *lock)
{
	__might_sleep("mutex_lock()", 0);
	while (!mutex_trylock(lock))
		wait_step(lock, "mutex");
}

void mutex_unlock(struct shim_lock *lock)
{
	if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != shim_self()->id)
		shim_fault("a mutex is released by who does not hold it");
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

/* --- irq_work -------------------------------------------------------------- */

struct irq_work {
	void (*func)(struct irq_work *work);
	struct irq_work *next;
	int queued;
};

static __thread struct irq_work *irq_works;

_Bool irq_work_queue(struct irq_work *work)
{
	struct shim_thread *self = shim_self();

	if (__atomic_exchange_n(&work->queued, 1, __ATOMIC_ACQ_REL))
		return 0;
	/* An NMI may come in between and queue another one. */
	work->next = __atomic_load_n(&irq_works, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&irq_works, &work->next, work, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED))
		;
	self->irq_pending = 1;
	shim_irq_run_pending();
	return 1;
}

void shim_irq_work_run(void)
{
	struct irq_work *work, *next;

	if (!irq_works || !shim_hardirq_enter())
		return;
	for (work = __atomic_exchange_n(&irq_works, NULL, __ATOMIC_RELAXED); work; work = next) {
		next = work->next;
		__atomic_store_n(&work->queued, 0, __ATOMIC_RELEASE);
		work->func(work);
	}
	shim_hardirq_exit();
}

void irq_work_sync(struct irq_work *work)
{
	__might_sleep("irq_work_sync()", 0);
	shim_irq_work_run();
	while (__atomic_load_n(&work->queued, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* --- Other ----------------------------------------------------------------- */

unsigned int shim_random_u32(void)
{
	struct shim_thread *self = shim_self();

	self->seed = self->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return self->seed >> 32;
}

unsigned long long shim_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

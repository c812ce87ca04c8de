/* SPDX-License-Identifier: GPL-2.0 */
/* Static keys: plain flags. */
#ifndef SHIM_LINUX_JUMP_LABEL_H
#define SHIM_LINUX_JUMP_LABEL_H

#include <linux/compiler.h>
#include <linux/types.h>

struct static_key {
	int enabled;
};

struct static_key_true {
	struct static_key key;
};

struct static_key_false {
	struct static_key key;
};

#define DEFINE_STATIC_KEY_TRUE(name)	struct static_key_true name = { { 1 } }
#define DEFINE_STATIC_KEY_FALSE(name)	struct static_key_false name
#define DEFINE_STATIC_KEY_TRUE_RO	DEFINE_STATIC_KEY_TRUE
#define DEFINE_STATIC_KEY_FALSE_RO	DEFINE_STATIC_KEY_FALSE
#define DECLARE_STATIC_KEY_TRUE(name)	extern struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name
#define static_branch_likely(k)		likely(READ_ONCE((k)->key.enabled))
#define static_branch_unlikely(k)	unlikely(READ_ONCE((k)->key.enabled))
#define static_key_enabled(k)		READ_ONCE((k)->key.enabled)
#define static_branch_enable(k)		WRITE_ONCE((k)->key.enabled, 1)
#define static_branch_disable(k)	WRITE_ONCE((k)->key.enabled, 0)

#endif /* SHIM_LINUX_JUMP_LABEL_H */

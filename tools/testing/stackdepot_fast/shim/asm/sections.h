/* SPDX-License-Identifier: GPL-2.0 */
/* Where kernel text, its parts and modules lie, as the test says. */
#ifndef SHIM_ASM_SECTIONS_H
#define SHIM_ASM_SECTIONS_H

#include <shim/shim.h>

/* Like an array of unknown size at a known place. */
#define shim_symbol(addr)	(*(char (*)[])(addr))

#define _text			shim_symbol(shim_text)
#define _stext			shim_symbol(shim_text)
#define _etext			shim_symbol(shim_etext)
#define _end			shim_symbol(shim_end)
#define __entry_text_start	shim_symbol(SHIM_ENTRY_TEXT)
#define __entry_text_end	shim_symbol(SHIM_ENTRY_TEXT_END)
#define __irqentry_text_start	shim_symbol(SHIM_IRQENTRY_TEXT)
#define __irqentry_text_end	shim_symbol(SHIM_IRQENTRY_TEXT_END)
#define __softirqentry_text_start	shim_symbol(SHIM_SOFTIRQENTRY_TEXT)
#define __softirqentry_text_end	shim_symbol(SHIM_SOFTIRQENTRY_TEXT_END)
#define MODULES_VADDR	shim_modules
#define MODULES_END	shim_modules_end

#endif /* SHIM_ASM_SECTIONS_H */

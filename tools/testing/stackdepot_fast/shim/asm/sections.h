/* SPDX-License-Identifier: GPL-2.0 */
/* Where kernel text and modules lie, as the test says. */
#ifndef SHIM_ASM_SECTIONS_H
#define SHIM_ASM_SECTIONS_H

#include <shim/shim.h>

#define _text		((char *)shim_text)
#define _stext		((char *)shim_text)
#define _etext		((char *)shim_etext)
#define _end		((char *)shim_end)
#define __entry_text_start ((char *)shim_entry_text)
#define __entry_text_end ((char *)shim_entry_text_end)
#define MODULES_VADDR	shim_modules
#define MODULES_END	shim_modules_end

#endif /* SHIM_ASM_SECTIONS_H */

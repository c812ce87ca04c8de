// SPDX-License-Identifier: GPL-2.0
/* The property test's operations, as libFuzzer finds them. */
#include "interp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	interp_run(data, len, 0);
	return 0;
}

# Upper halves of addresses are ignored: traces that differ in them alone become one.
# property
s/if (\*u1 != \*u2)/if ((u32)*u1 != (u32)*u2)/
s/return jhash2((u32 \*)entries,/return size + jhash2((u32 *)entries, 0 */

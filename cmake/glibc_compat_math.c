/*===- glibc_compat_math.c - the same, of libm ------------------------------===*\
 *
 * By itself, so that what calls none of it needs no libm.
 *
\*===----------------------------------------------------------------------===*/
#ifdef __x86_64__
/* The version of 2.35 only differs in not calling a handler that nobody sets. */
double hypot_before(double x, double y);
__asm__(".symver hypot_before, hypot@GLIBC_2.2.5");
__attribute__((visibility("hidden"))) double hypot(double x, double y) {
  return hypot_before(x, y);
}
#endif

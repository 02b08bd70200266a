/*===- jit.h - kernels that are launched with values ----------------------===*\
 *
 * A tile_jit is a kernel that takes VALUES: device addresses, integers, floats,
 * descriptors. From them it finds, or compiles, the variant that serves the launch,
 * by the rules of the Triton language: which pointers are aligned to 16 bytes, which
 * integers are 1 or divisible by 16 or need 64 bits, element types, constexprs. No
 * signature is written by hand.
 *
 *   tile_compile_options compile;  tile_compile_options_init(&compile);
 *   compile.kernel = "add";
 *   compile.constexprs = block;  compile.num_constexprs = 1;
 *   tile_jit_options options;  tile_jit_options_init(&options);
 *   options.compile = &compile;
 *   tile_jit *add;             tile_jit_create_file(compiler, "add.tile", &options, &add);
 *   const tile_value values[] = {tile_pointer(x, TILE_FP32), tile_pointer(y, TILE_FP32),
 *                                tile_pointer(out, TILE_FP32), tile_int(n)};
 *   tile_jit_launch(add, stream, (uint32_t[3]){blocks, 1, 1}, values, 4, NULL);
 *
 * Tuning. `@triton.autotune` and `@triton.heuristics` of the file decide as they do for
 * launches from Python, and the constexprs that they set are no arguments. The first launch
 * for some values of `key` compiles the configurations that pruning leaves, in parallel, and
 * times them on its stream with its own arguments, the most promising first, unless there is a
 * record. A
 * TILE_EVENT_TUNE says which one won, and so does $TILE_PRINT_AUTOTUNING=1 (or
 * $TRITON_PRINT_AUTOTUNING) on standard error. The functions of a file see integers, floats
 * and None of a launch; hooks, `reset_to_zero` and `restore_value` are for tensors, so kernels
 * with them are not timed. Heuristics are compiled, as grids are.
 *
 * Arguments. A launch gives one value for each parameter of the kernel, in order, less
 * the constexprs that `compile->constexprs` fixes. Parameters at the end that have a
 * default may be left out. A constexpr that is not fixed is an argument in its place.
 *
 * Speed. A launch whose variant is there takes no lock and allocates nothing: the key is
 * a few words on the stack. The first launch of a variant compiles and loads it, while
 * other threads go on launching others.
 *
 * Life. A tile_jit works on one context: the one given, or the one that is current at its
 * first launch. It keeps what it loaded until it is destroyed. Any thread may use it.
 * The file is read once, when it is created. See tile.h for all that is not said here.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TILE_JIT_H
#define TILE_JIT_H

#include "tile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values --------------------------------------------------------------- */

/* Element types, by their names in signatures. */
typedef enum tile_dtype {
  TILE_DTYPE_NONE = 0,
  TILE_I1 = 1,
  TILE_I8 = 2,
  TILE_I16 = 3,
  TILE_I32 = 4,
  TILE_I64 = 5,
  TILE_U8 = 6,
  TILE_U16 = 7,
  TILE_U32 = 8,
  TILE_U64 = 9,
  TILE_FP16 = 10,
  TILE_BF16 = 11,
  TILE_FP32 = 12,
  TILE_FP64 = 13,
  TILE_FP8E4NV = 14,
  TILE_FP8E5 = 15,
  TILE_FP8E4B15 = 16,
  TILE_FP8E4B8 = 17,
  TILE_FP8E5B16 = 18
} tile_dtype;

typedef enum tile_value_kind {
  TILE_VALUE_NONE = 0,       /* None */
  TILE_VALUE_POINTER = 1,    /* a device address; `dtype` is what it points to */
  TILE_VALUE_INT = 2,        /* i32 if it fits, else i64, unless the parameter says its type */
  TILE_VALUE_UINT = 3,       /* the same; u64 beyond an int64 */
  TILE_VALUE_FLOAT = 4,      /* fp32, unless the parameter says its type */
  TILE_VALUE_BOOL = 5,       /* i1 */
  TILE_VALUE_DESCRIPTOR = 6, /* of a tensor of `dtype` */
  TILE_VALUE_DTYPE = 7,      /* for constexprs: the type `dtype` */
  TILE_VALUE_TEXT = 8        /* for constexprs: up to 256 bytes */
} tile_value_kind;

typedef struct tile_descriptor_value {
  tile_descriptor descriptor;
  int32_t block[5];      /* what one load or store moves, as in `TensorDescriptor` */
  int32_t pads_with_nan; /* 1: what lies outside reads as NaN, not as 0 */
} tile_descriptor_value;

/* 16 bytes, of which a launch reads what the kind says. It will not grow. */
typedef struct tile_value {
  uint8_t kind;  /* tile_value_kind */
  uint8_t dtype; /* tile_dtype */
  uint8_t reserved[6];
  union {
    uint64_t bits;
    int64_t integer;
    double real;
    const void *pointer;
    const tile_descriptor_value *descriptor;
    const char *text;
  } as;
} tile_value;

static inline tile_value tile_none(void) {
  tile_value value = {TILE_VALUE_NONE, 0, {0}, {0}};
  return value;
}
static inline tile_value tile_pointer(const void *address, tile_dtype element) {
  tile_value value = {TILE_VALUE_POINTER, (uint8_t)element, {0}, {0}};
  value.as.pointer = address;
  return value;
}
static inline tile_value tile_int(int64_t integer) {
  tile_value value = {TILE_VALUE_INT, 0, {0}, {0}};
  value.as.integer = integer;
  return value;
}
static inline tile_value tile_uint(uint64_t integer) {
  tile_value value = {TILE_VALUE_UINT, 0, {0}, {0}};
  value.as.bits = integer;
  return value;
}
static inline tile_value tile_float(double real) {
  tile_value value = {TILE_VALUE_FLOAT, 0, {0}, {0}};
  value.as.real = real;
  return value;
}
static inline tile_value tile_bool(int truth) {
  tile_value value = {TILE_VALUE_BOOL, 0, {0}, {0}};
  value.as.bits = truth ? 1 : 0;
  return value;
}
static inline tile_value tile_by_descriptor(const tile_descriptor_value *descriptor,
                                            tile_dtype element) {
  tile_value value = {TILE_VALUE_DESCRIPTOR, (uint8_t)element, {0}, {0}};
  value.as.descriptor = descriptor;
  return value;
}
static inline tile_value tile_type(tile_dtype type) {
  tile_value value = {TILE_VALUE_DTYPE, (uint8_t)type, {0}, {0}};
  return value;
}
static inline tile_value tile_text(const char *text) {
  tile_value value = {TILE_VALUE_TEXT, 0, {0}, {0}};
  value.as.text = text;
  return value;
}

/* ---- Kernels that take values --------------------------------------------- */

typedef struct tile_jit tile_jit;

typedef struct tile_jit_options {
  size_t size; /* of this struct */
  /* As for tile_compile_file, NULL for its defaults; `signature` must be NULL. The values
   * of `constexprs` are fixed. */
  const tile_compile_options *compile;
  void *context; /* NULL: the one that is current at the first launch */
  /* Names of parameters of which nothing but the type is specialised on (not on being 1 or
   * divisible by 16), and of which the alignment is not (nor a lesser multiple, where a launch
   * would be faster for it). What the decorator `@triton.jit` says counts too. */
  const char *const *do_not_specialize;
  size_t num_do_not_specialize;
  const char *const *do_not_specialize_on_alignment;
  size_t num_do_not_specialize_on_alignment;
  /* The grid of launches that give none: the name of a function of the file that takes a
   * dict of the arguments, or such a lambda: "lambda args: (triton.cdiv(args['n'], 128),)".
   * NULL: the file's function `<kernel>_grid`, if it has one. It is compiled when the
   * tile_jit is created; integers, comparisons, `min`, `max`, `triton.cdiv`,
   * `triton.next_power_of_2`, constants of the file and calls of such functions are
   * possible. */
  const char *grid;
  /* Where the kernel has `@triton.autotune`: a file that gets a line of JSON for every choice,
   * to read, merge and commit, and that is asked before anything is timed. NULL: $TILE_TUNING.
   * "": none; the disk cache keeps records in any case. */
  const char *tuning_file;
  /* 1: nothing is timed. Without a record, the configuration that `perf_model` ranks first is
   * taken, or else the one that the compiler's cost model does, of those that compile and fit the
   * device: the same in every process. Default 0. */
  int32_t no_timing;
  /* 1: all configurations are timed that pruning leaves. Else the cost model decides which are
   * timed first, and which no longer when several have brought nothing. Default 0. */
  int32_t time_all;
} tile_jit_options;
TILE_API void tile_jit_options_init_sized(tile_jit_options *options, size_t size);
static inline void tile_jit_options_init(tile_jit_options *options) {
  tile_jit_options_init_sized(options, sizeof *options);
}

TILE_API tile_status tile_jit_create_file(tile_compiler *compiler, const char *path,
                                          const tile_jit_options *options, tile_jit **jit);
TILE_API tile_status tile_jit_create_buffer(tile_compiler *compiler, const char *name,
                                            const char *source, size_t length,
                                            const tile_jit_options *options, tile_jit **jit);
TILE_API void tile_jit_destroy(tile_jit *jit);

/* Launches grid[0] * grid[1] * grid[2] programs; a NULL grid is worked out by the grid
 * function. `options` may be NULL. Values are copied before the call returns. */
TILE_API tile_status tile_jit_launch(tile_jit *jit, void *stream, const uint32_t grid[3],
                                     const tile_value *values, size_t num_values,
                                     const tile_launch_options *options);

/* The variant that a launch with these values runs, compiled and loaded if it has to be. */
TILE_API tile_status tile_jit_find(tile_jit *jit, const tile_value *values, size_t num_values,
                                   tile_function **function);

/* The grid that the grid function gives for these values. */
TILE_API tile_status tile_jit_grid(tile_jit *jit, const tile_value *values, size_t num_values,
                                   uint32_t grid[3]);

/* The configuration that a launch with these values takes, chosen now if it has not been:
 * "BLOCK: 128, num_warps: 4, num_stages: 3"; "" for a kernel that lists none. The text is the
 * tile_jit's. */
TILE_API tile_status tile_jit_best_config(tile_jit *jit, const tile_value *values,
                                          size_t num_values, const char **config);

typedef struct tile_jit_info {
  size_t size;           /* of this struct */
  int32_t num_arguments; /* of a launch, with those that have defaults */
  int32_t num_variants;  /* that have been made so far */
  int32_t has_grid;      /* 1: launches need not give one */
} tile_jit_info;
TILE_API tile_status tile_jit_get_info(const tile_jit *jit, tile_jit_info *info);

/* ---- All variants, ahead -------------------------------------------------- */

/* What values an argument can have. An argument that several ranges name can have the
 * values of each; one that none names has its default or, without one, all values of the type
 * that its annotation says ("*fp32:16", "i32").
 *   a pointer:    `least` is any of its type; addresses are multiples of `step` bytes
 *   an integer:   least, least + step, ... up to `most`
 *   others:       `least` itself; of floats, and of descriptors, the type and block */
typedef struct tile_argument_range {
  const char *parameter;
  tile_value least, most;
  uint64_t step; /* 0: 1 */
} tile_argument_range;

typedef struct tile_variant {
  size_t size; /* of this struct */
  const char *kernel;
  const char *signature;  /* "*fp32:16,i32" */
  const char *constexprs; /* "BLOCK=128, SHAPE=null"; "" if none */
  const char *options;    /* "num_warps=4 num_stages=3 num_ctas=1" */
} tile_variant;
/* Called once a variant; what it returns but 0 ends the enumeration. */
typedef int32_t (*tile_variant_visitor)(void *user, const tile_variant *variant);

/* Visits every variant that launches with such values can reach, each once. Compiles
 * nothing and needs no driver. More than 65536 are an error. */
TILE_API tile_status tile_jit_variants(tile_jit *jit, const tile_argument_range *ranges,
                                       size_t num_ranges, tile_variant_visitor visit, void *user);

typedef struct tile_prepare_options {
  size_t size;     /* of this struct */
  int32_t threads; /* that compile; 0: one a core. Default 0 */
  int32_t load;    /* 1: load them too, so that no launch waits. 0: compile, into the disk cache;
                      needs no driver if the target is given. Default 1 */
} tile_prepare_options;
TILE_API void tile_prepare_options_init_sized(tile_prepare_options *options, size_t size);
static inline void tile_prepare_options_init(tile_prepare_options *options) {
  tile_prepare_options_init_sized(options, sizeof *options);
}

/* Makes all of them. The error of the first that fails ends it. `options` may be NULL. */
TILE_API tile_status tile_jit_prepare(tile_jit *jit, const tile_argument_range *ranges,
                                      size_t num_ranges, const tile_prepare_options *options);

#ifdef __cplusplus
}
#endif

#endif /* TILE_JIT_H */

/*===- rt.h - kernels that were built ahead -------------------------------===*\
 *
 * `tilec build` writes a C source and a header for the kernels of a file. A program that
 * compiles the source and links libtile_rt launches them with values, as tile/jit.h does:
 * the variant is found by the same rules, and nothing is compiled but PTX by the driver,
 * where there is no machine code for its GPU.
 *
 *   #include "add.h"
 *   const tile_value values[] = {tile_pointer(x, TILE_FP32), tile_pointer(y, TILE_FP32),
 *                                tile_pointer(out, TILE_FP32), tile_int(n)};
 *   tile_status status = tile_rt_launch(&add, stream, NULL, values, 4, NULL);
 *   if (status != TILE_OK) puts(tile_rt_last_error());
 *
 * libtile_rt has no compiler in it and no LLVM; it opens libcuda.so.1 when it is first
 * needed. It never prints and never ends the process. Statuses are those of tile/tile.h; a
 * launch whose variant was not built is TILE_NO_COMPILE. Any thread may launch. Launches
 * are on the calling thread's current context or, if it has none, on the primary context of
 * device 0. A launch whose variant is loaded takes no lock and allocates nothing, unless the
 * kernel wants scratch memory.
 *
 * A tuned kernel that was built with a tuning file, or by the cost model, has the code of several
 * configurations, and a list of choices: the configuration for some values of the arguments that
 * select one, on a device. A launch takes the choice that is nearest to it. Of the devices that
 * were tuned on, its own counts, else one of the same compute capability, else of the next
 * lower; on that device the choice for the same types and, number by number, the least ratio
 * between what was tuned and what is launched.
 *
 * The structs below are what the generated source fills in; programs only pass kernels on.
 * Source and library must be of the same version: a kernel of another is refused.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TILE_RT_H
#define TILE_RT_H

#include "tile/jit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE_RT_VERSION 4
#define TILE_RT_MOST_PARAMETERS 192
#define TILE_RT_MOST_MAPS 16 /* and pieces of scratch memory */

typedef struct tile_rt_argument { /* how values are read */
  const char *name;
  uint8_t flags;
  uint8_t dtype;
} tile_rt_argument;

typedef struct tile_rt_step { /* of a small stack machine */
  uint8_t op;
  int64_t operand;
} tile_rt_step;

typedef struct tile_rt_formula {
  const tile_rt_step *steps;
  uint32_t count, results;
} tile_rt_formula;

typedef enum tile_rt_parameter_kind {
  TILE_RT_ARG = 0,
  TILE_RT_TENSOR_MAP = 1,
  TILE_RT_DESC_BASE = 2,
  TILE_RT_DESC_SHAPE = 3,
  TILE_RT_DESC_STRIDE = 4,
  TILE_RT_SCRATCH = 5,
  TILE_RT_CONST = 6,
  TILE_RT_NUM_PROGRAMS = 7
} tile_rt_parameter_kind;

typedef struct tile_rt_parameter { /* of the compiled kernel */
  uint8_t kind, dim, per_program, zero;
  uint32_t index; /* entry of the signature; of a tensor map: its number */
  uint64_t bytes; /* of the value or the scratch memory; of a constant: its bits */
} tile_rt_parameter;

typedef struct tile_rt_map { /* a tensor map: the formula gives base, sizes, strides, and what
                                must not be negative */
  tile_rt_formula numbers;
  uint8_t type, rank, swizzle, element_bytes, stored;
  uint32_t box[5];
} tile_rt_map;

typedef struct tile_rt_code { /* a variant for one target */
  const char *entry;
  int32_t capability; /* 90 */
  int32_t exact;      /* 1: machine code, or PTX of a target like sm_90a, for this chip alone */
  const void *image;
  int32_t threads, shared_bytes, cluster[3], blocks_per_program;
  int32_t programs_per_block[3]; /* neighbours along each axis of the grid */
  uint32_t programs_apart; /* at once, a multiprocessor, of `alone`; 0: not known */
  uint32_t few_programs; /* for each multiprocessor: `alone` serves grids of at most so many */
  uint8_t cooperative, dependent, persistent;
  const tile_rt_parameter *parameters;
  uint32_t num_parameters;
  const tile_rt_map *maps;
  uint32_t num_maps;
  const struct tile_rt_code *without_maps; /* for arrays that tensor maps cannot describe */
  const struct tile_rt_code *alone;        /* for grids with few programs */
} tile_rt_code;

typedef struct tile_rt_variant {
  const uint64_t *words; /* the key */
  uint32_t size, num_codes;
  const tile_rt_code *codes;
} tile_rt_variant;

typedef struct tile_rt_configuration { /* one way to compile the kernel */
  const char *text;                    /* "BLOCK: 128, num_warps: 4, num_stages: 3" */
  uint64_t number;                     /* in the keys of its variants */
  const tile_rt_formula *grid;         /* NULL: launches give one */
  const tile_rt_formula *heuristics;
} tile_rt_configuration;

typedef struct tile_rt_choice { /* which configuration serves launches like this one */
  const char *device;           /* "NVIDIA H200, 132 SMs"; NULL: all of the capability */
  int32_t capability;           /* 0: not known */
  uint32_t configuration;       /* index */
  const tile_value *values;     /* of the arguments that select */
} tile_rt_choice;

typedef struct tile_rt_kernel {
  uint32_t version; /* TILE_RT_VERSION */
  const char *name;
  const tile_rt_argument *arguments;
  const tile_value *defaults; /* of the last arguments */
  uint32_t num_arguments, num_defaults;
  const tile_rt_configuration *configurations;
  uint32_t num_configurations, num_choices; /* no choices: the first serves all launches */
  const tile_rt_choice *choices;
  const uint32_t *selecting; /* indices of arguments */
  uint32_t num_selecting;
  uint32_t num_heuristics; /* of each configuration */
  const char *const *heuristic_names;
  const tile_rt_variant *variants;
  uint32_t num_variants;
  void *state; /* the library's; NULL at first */
} tile_rt_kernel;

/* Launches grid[0] * grid[1] * grid[2] programs; a NULL grid is computed by the file's function.
 * `options` may be NULL. */
TILE_API tile_status tile_rt_launch(tile_rt_kernel *kernel, void *stream, const uint32_t grid[3],
                                    const tile_value *values, size_t num_values,
                                    const tile_launch_options *options);
/* Loads every variant that launches on the current device can take, so that none waits. */
TILE_API tile_status tile_rt_load(tile_rt_kernel *kernel);
/* The configuration of `@triton.autotune` that a launch with these values takes on the current
 * device, as a text for people; "" for a kernel that is not tuned. The text is the kernel's. */
TILE_API tile_status tile_rt_best_config(tile_rt_kernel *kernel, const tile_value *values,
                                         size_t num_values, const char **config);
/* The message of this thread's last failing call; "" if there was none. */
TILE_API const char *tile_rt_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TILE_RT_H */

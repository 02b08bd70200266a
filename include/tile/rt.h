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
  uint32_t programs_apart;       /* at once, a multiprocessor, of `alone`; 0: not known */
  uint32_t few_programs; /* for each multiprocessor: `alone` serves grids of at most so many */
  uint8_t cooperative, dependent, persistent;
  uint8_t programs_grow; /* those of a block run longer and longer */
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
/* ---- Functions of whole tensors ------------------------------------------ */

/* A `@tile.function` that was built, its sizes open. Each of its kernels has code for several cuts
 * into blocks, and says for which sizes that is right; samples say which code is good near them. A
 * run reads the sizes off its tensors, checks them, and takes the nearest sample that is right, of
 * each kernel the code that counts on most. There is one such plan for each target. */

#define TILE_RT_MOST_SIZES 64 /* names of sizes, with those that the plan chooses */

typedef struct tile_rt_operand { /* a parameter, or a result */
  const char *name;
  uint8_t is_number, is_written;
  uint32_t bytes;          /* of the number, or of an element */
  const char *const *dims; /* as the source says them: "2*K" */
  tile_rt_formula shape;   /* a number for each dimension, of the sizes */
} tile_rt_operand;

typedef struct tile_rt_size { /* a name, in the order in which they become known */
  const char *name;
  uint32_t parameter, dim; /* the size of which says it */
  tile_rt_formula value;   /* of that, which is in the name's place; no steps: that itself */
} tile_rt_size;

typedef struct tile_rt_requirement { /* what must not be negative */
  tile_rt_formula number;
  const char *otherwise;
} tile_rt_requirement;

typedef enum tile_rt_buffer_kind {
  TILE_RT_OF_CALL = 0, /* a parameter */
  TILE_RT_RESULT = 1,
  TILE_RT_BETWEEN = 2 /* part of the workspace, from stage `first` to `last` */
} tile_rt_buffer_kind;

typedef struct tile_rt_buffer {
  uint8_t kind;
  uint32_t index, memory; /* which one; the buffer in whose memory it lies, often itself */
  uint32_t first, last;
  tile_rt_formula bytes;
} tile_rt_buffer;

typedef struct tile_rt_stage_code { /* of one cut */
  tile_rt_formula holds;            /* 1 for sizes for which it is right */
  tile_rt_formula grid;             /* three numbers */
  const uint8_t *aligned;           /* by argument: must be a multiple of 16 */
  const tile_rt_code *codes;
  uint32_t num_codes;
} tile_rt_stage_code;

typedef struct tile_rt_stage { /* a kernel of the function */
  const char *name;
  uint8_t by_hand;          /* somebody wrote it */
  const int32_t *arguments; /* a buffer, or -1 less the index of a number of `sizes` */
  uint32_t num_arguments;
  const tile_rt_formula *sizes;
  uint32_t num_sizes;
  const uint32_t *written; /* buffers */
  uint32_t num_written;
  const tile_rt_stage_code *codes;
  uint32_t num_codes;
} tile_rt_stage;

typedef struct tile_rt_form {
  const tile_rt_buffer *buffers;
  uint32_t num_buffers;
  const tile_rt_stage *stages; /* in order */
  uint32_t num_stages, num_chosen;
} tile_rt_form;

typedef struct tile_rt_sample {
  const int64_t *sizes; /* by name, then those that the form chooses */
  uint32_t form;
  const uint16_t *codes; /* three of each stage: what counts on most comes first */
} tile_rt_sample;

typedef struct tile_rt_plan {
  int32_t capability, exact;
  const tile_rt_form *forms;
  uint32_t num_forms;
  const tile_rt_sample *samples;
  uint32_t num_samples;
} tile_rt_plan;

typedef struct tile_rt_function {
  uint32_t version; /* TILE_RT_VERSION */
  const char *name;
  const tile_rt_operand *parameters, *results;
  uint32_t num_parameters, num_results;
  const tile_rt_size *sizes;
  uint32_t num_sizes;
  const tile_rt_requirement *requirements;
  uint32_t num_requirements;
  const tile_rt_plan *plans;
  uint32_t num_plans;
  void *state; /* the library's; NULL at first */
} tile_rt_function;

/* arguments[i] points to a tile_tensor for a tensor, which has no gaps between its elements, and to
 * the value for a number. Of results[i] only `data` counts: room for the result, without gaps. What
 * lies between kernels is in `workspace`, which is aligned to 256 bytes and has at least as many as
 * tile_rt_workspace says; if it is NULL, and something is needed, that is allocated and freed in
 * the order of the stream. */
TILE_API tile_status tile_rt_run(tile_rt_function *function, void *stream,
                                 const void *const *arguments, size_t num_arguments,
                                 const tile_tensor *results, size_t num_results, void *workspace,
                                 size_t workspace_bytes);
/* Sets rank, shape and strides of result `index`. Asks no device. */
TILE_API tile_status tile_rt_result(const tile_rt_function *function, const void *const *arguments,
                                    size_t num_arguments, size_t index, tile_tensor *result);
/* What a run with such arguments needs on the current device; often 0. */
TILE_API tile_status tile_rt_workspace(tile_rt_function *function, const void *const *arguments,
                                       size_t num_arguments, size_t *bytes);

/* The message of this thread's last failing call; "" if there was none. */
TILE_API const char *tile_rt_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TILE_RT_H */

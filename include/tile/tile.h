/*===- tile.h - the C interface of libtile --------------------------------===*\
 *
 * Compile kernels written in the Triton language to PTX, and run them through
 * the CUDA driver, in process. Usable from any language that can open a shared
 * library: no types of C++, CUDA or LLVM appear here, and no exception leaves.
 *
 *   tile_compiler *compiler;  tile_compiler_create(NULL, &compiler);
 *   tile_compile_options options;  tile_compile_options_init(&options);
 *   options.kernel = "add";  options.signature = "*fp32:16,*fp32:16,*fp32:16,i32";
 *   tile_kernel *kernel;      tile_compile_file(compiler, "add.tile", &options, &kernel);
 *   tile_function *function;  tile_function_load(kernel, NULL, &function);
 *   const void *arguments[] = {&x, &y, &out, &n};
 *   tile_function_launch(function, stream, (uint32_t[3]){blocks, 1, 1}, arguments, 4, NULL);
 *
 * Errors. Every call that can fail returns a tile_status. For anything but
 * TILE_OK, tile_last_error() has a message for people, of the same thread,
 * until that thread's next failing call. Out-parameters are set only on
 * success (to NULL or 0 otherwise).
 *
 * Ownership. What a *_create, *_load, tile_compile_* call returns is the
 * caller's, to be given to the matching *_destroy, which takes NULL too.
 * Objects keep what they were made from alive: a kernel may be destroyed while
 * its functions are in use, and so on, in any order. Strings returned belong to
 * their object; strings and arrays passed in are copied where they are kept.
 *
 * Threads. Every object may be used by any number of threads at once, except
 * tile_launch, tile_program and tile_emulator (one thread at a time). Destroying
 * is the owner's business.
 *
 * Contexts and streams. `context` is a CUcontext and `stream` a CUstream (or
 * cudaStream_t), passed as void *. A NULL context means the calling thread's
 * current context or, if it has none, the primary context of device 0 (the one
 * that the CUDA runtime uses), which stays retained from then on. A NULL stream
 * is the default stream. No call changes the thread's current context.
 *
 * Units. Sizes are bytes, times are milliseconds, grids count programs.
 *
 * Versions. Structs that may grow begin with their size, so that a program and a
 * library of different versions never touch more than both know. Initialise
 * *_options with their *_init function, which also sets the defaults; set the
 * size of an *_info before it is filled in: `tile_device_info info = {sizeof info};`
 * Who finds functions by name (dlsym) calls *_options_init_sized with the size of
 * the struct: *_options_init is compiled into the program, which knows that size.
 * What the library has under that name sets the fields of the first version only.
 *
\*===----------------------------------------------------------------------===*/
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Statuses ----------------------------------------------------------- */

typedef enum tile_status {
  TILE_OK = 0,
  TILE_INVALID_ARGUMENT = 1, /* the call itself is wrong */
  TILE_COMPILE_ERROR = 2,    /* the kernel is wrong; the message is the diagnostics */
  TILE_UNSUPPORTED = 3,      /* well-formed, but not supported by Tile or the device */
  TILE_IO_ERROR = 4,         /* a file cannot be read or written */
  TILE_NO_DRIVER = 5,        /* no usable CUDA driver, or it finds no GPU */
  TILE_DRIVER_TOO_OLD = 6,   /* the driver is older than CUDA 12.0 */
  TILE_OUT_OF_MEMORY = 7,    /* device memory */
  TILE_PTX_REJECTED = 8,     /* the driver does not accept the code */
  TILE_RESOURCES = 9,        /* more shared memory, registers or clusters than there are */
  TILE_DRIVER_ERROR = 10,    /* any other error from the driver */
  TILE_KERNEL_FAULT = 11,    /* the emulator found a fault in the kernel */
  TILE_NO_COMPILE = 12       /* a kernel would have to be compiled, which `no_compile` forbids, or
                                libtile_compiler.so is not beside libtile.so */
} tile_status;

/* "out of device memory": a fixed phrase for a status. Never NULL. */
TILE_API const char *tile_status_string(tile_status status);

/* The message of this thread's last failing call; "" if there was none. Valid
 * until the next call of this library in this thread. */
TILE_API const char *tile_last_error(void);

/* The library's version, "0.1.0". */
TILE_API const char *tile_version(void);

/* ---- Compiling ---------------------------------------------------------- */

typedef struct tile_compiler tile_compiler;
typedef struct tile_kernel tile_kernel; /* compiled code: PTX and metadata */

/* What a compiler and the kernels made with it do. */
typedef enum tile_event_kind {
  TILE_EVENT_COMPILE = 1, /* a kernel was compiled, or found on disk; or could not be */
  TILE_EVENT_LOAD = 2,    /* a kernel was loaded on a context */
  TILE_EVENT_TUNE = 3,    /* a configuration was chosen; `message` says which and why */
  TILE_EVENT_LAUNCH = 4,  /* a launch was passed on to the driver */
  TILE_EVENT_WARNING = 5, /* something costs speed, such as a cache that is not written */
  TILE_EVENT_PRINT = 6    /* a kernel that is compiled prints `message` (static_print) */
} tile_event_kind;

typedef enum tile_event_source {
  TILE_SOURCE_NONE = 0,
  TILE_SOURCE_COMPILED = 1,
  TILE_SOURCE_DISK = 2,   /* `cache_dir` */
  TILE_SOURCE_SHARED = 3, /* `shared_cache_dir` */
  TILE_SOURCE_FILE = 4    /* `override_dir` */
} tile_event_source;

typedef struct tile_event {
  size_t size;    /* of this struct */
  int32_t kind;   /* tile_event_kind */
  int32_t status; /* tile_status */
  int32_t source; /* tile_event_source */
  const char *kernel;
  const char *variant; /* "*fp32:16,i32 BLOCK=128 num_warps=4 sm_90a" */
  const char *key;     /* of the caches: 64 hexadecimal digits */
  const char *message; /* of an error, a warning, a choice; "" if none */
  double start_us;     /* of a clock that only runs forward */
  double duration_us;
} tile_event;
/* Called in the thread that did it, which may hold locks: it must not throw, and calls nothing
 * of this library. */
typedef void (*tile_event_callback)(void *user, const tile_event *event);

typedef struct tile_compiler_options {
  size_t size; /* of this struct */
  /* Folder of the disk cache. NULL: $TILE_CACHE_DIR, else $XDG_CACHE_HOME/tile,
   * else $HOME/.cache/tile. "": no disk cache. It is made for this user alone
   * (0700) and kept below 1 GiB. A folder that cannot be written, that belongs to
   * somebody else or that others may write to is not an error: nothing is kept
   * there then, nothing in it believed, and a warning event says why. */
  const char *cache_dir;
  /* A second cache, looked into behind the first and never written: one that several users
   * or machines share. It must belong to this user or to root, and nobody else may be able
   * to write to it. NULL: $TILE_CACHE_SHARED. "": none. */
  const char *shared_cache_dir;
  /* 1: whatever would have to be compiled is an error, TILE_NO_COMPILE, that names the kernel
   * and what it was to be compiled for; what is in memory or in a cache is served.
   * -1, the default: whether $TILE_NO_COMPILE is set and not 0. */
  int32_t no_compile;
  /* 1: each launch waits until the device is done, and an error of the device names the kernel,
   * its arguments and its source. For finding faults; slow.
   * -1, the default: whether $TILE_LAUNCH_BLOCKING is set and not 0. */
  int32_t blocking;
  tile_event_callback callback; /* told of every event; may be NULL */
  void *callback_user;
  /* A file that gets every event as a trace for chrome://tracing or Perfetto. NULL: $TILE_TRACE.
   * "": none. */
  const char *trace;
  /* A folder that gets each stage of every kernel that is compiled: KERNEL-KEY.tile, .cta,
   * .llvm, .ptx, .json. NULL: $TILE_DUMP. "": none. */
  const char *dump_dir;
  /* A folder whose files KERNEL-KEY.ptx, or KERNEL.ptx, take the place of the PTX of kernels of
   * that name. NULL: $TILE_OVERRIDE. "": none. */
  const char *override_dir;
  /* An assembler of the CUDA toolkit, such as "ptxas" or a path: kernels are assembled by it
   * when they are compiled, and the caches keep the machine code, so that loading does not
   * compile. NULL: $TILE_PTXAS. "": none; the driver compiles the PTX and keeps it in a cache
   * of its own. */
  const char *ptxas;
} tile_compiler_options;
TILE_API void tile_compiler_options_init_sized(tile_compiler_options *options, size_t size);
static inline void tile_compiler_options_init(tile_compiler_options *options) {
  tile_compiler_options_init_sized(options, sizeof *options);
}

/* `options` may be NULL. Cheap; starts no threads. */
TILE_API tile_status tile_compiler_create(const tile_compiler_options *options,
                                          tile_compiler **compiler);
TILE_API void tile_compiler_destroy(tile_compiler *compiler);

/* What has happened so far. */
typedef struct tile_counters {
  size_t size; /* of this struct */
  uint64_t compiled;
  uint64_t compile_errors;
  uint64_t forbidden; /* compilations that `no_compile` refused */
  uint64_t from_disk; /* kernels found in a cache on disk */
  uint64_t loads;
  uint64_t tunings;
  uint64_t warnings;
  uint64_t launches;
  double compile_ms; /* sum */
} tile_counters;
TILE_API tile_status tile_compiler_get_counters(const tile_compiler *compiler,
                                                tile_counters *counters);

typedef struct tile_constexpr {
  const char *name; /* of a parameter annotated tl.constexpr */
  const char
      *value; /* JSON (128, 0.5, true, null, "relu", [1,2]), tl.float16, @function, inf, nan */
} tile_constexpr;

typedef struct tile_compile_options {
  size_t size;        /* of this struct */
  const char *kernel; /* function to compile; NULL: the file's only kernel */
  const char
      *signature; /* "*fp32:16,i32"; NULL: from the annotations. See `tilec compile --help` */
  const tile_constexpr *constexprs;
  size_t num_constexprs;
  int32_t num_warps;        /* default 4 */
  int32_t num_stages;       /* default 3; 0: as many as fit */
  const char *target;       /* "sm_90a", a board ("h100"), "native" (the current device, else device
                               0); NULL: native where there is a GPU, else sm_90a */
  int32_t max_registers;    /* a thread's, 16 to 256 (255: it has no more); 0: no limit */
  int32_t enable_fp_fusion; /* contract a*b+c; default 1 */
  int32_t debug;            /* keep device asserts; default 0 */
  int32_t line_info;        /* source lines for profilers; default 1 */
  const char *libdevice_path; /* NVIDIA's libdevice bitcode to use for mathematics; NULL: our own */
  int32_t num_ctas; /* blocks of a cluster, which load once what they have in common; default 1:
                       two where that is known to pay */
  const char *warp_roles; /* "auto", "cooperative", "pingpong", "none", "shared", "apart"; NULL:
                             "auto" */
} tile_compile_options;
TILE_API void tile_compile_options_init_sized(tile_compile_options *options, size_t size);
static inline void tile_compile_options_init(tile_compile_options *options) {
  tile_compile_options_init_sized(options, sizeof *options);
}

/* Compiles one kernel of a file, or of `length` bytes of source called `name`
 * in diagnostics. Served from memory or the disk cache where that has the
 * same compilation, of the same contents of all files that it reads: an import
 * that has changed, or has appeared where there was none, is compiled anew.
 * Memory is kept for 64 MiB of kernels, besides those in use. Needs no driver if
 * `target` is given. */
TILE_API tile_status tile_compile_file(tile_compiler *compiler, const char *path,
                                       const tile_compile_options *options, tile_kernel **kernel);
TILE_API tile_status tile_compile_buffer(tile_compiler *compiler, const char *name,
                                         const char *source, size_t length,
                                         const tile_compile_options *options, tile_kernel **kernel);

/* A kernel from what `tilec compile` wrote: PTX and metadata texts. */
TILE_API tile_status tile_kernel_from_ptx(const char *ptx, size_t ptx_length, const char *metadata,
                                          size_t metadata_length, tile_kernel **kernel);
TILE_API void tile_kernel_destroy(tile_kernel *kernel);

/* Null-terminated; `length` (may be NULL) receives the length without the null. */
TILE_API const char *tile_kernel_ptx(const tile_kernel *kernel, size_t *length);
/* JSON, as `tilec compile --metadata` writes it. */
TILE_API const char *tile_kernel_metadata(const tile_kernel *kernel, size_t *length);
/* Warnings, with source lines and carets; "" if there are none. */
TILE_API const char *tile_kernel_diagnostics(const tile_kernel *kernel, size_t *length);

typedef struct tile_kernel_info {
  size_t size; /* of this struct */
  int32_t num_warps;
  int32_t threads;       /* of a block */
  int32_t shared_bytes;  /* dynamic shared memory of a block */
  int32_t cluster[3];    /* blocks of a cluster */
  int32_t num_arguments; /* what a launch must be given at least */
  int32_t from_cache;    /* 1: not compiled now */
  double compile_ms;     /* 0 if from_cache */
} tile_kernel_info;
TILE_API tile_status tile_kernel_get_info(const tile_kernel *kernel, tile_kernel_info *info);

/* ---- Devices ------------------------------------------------------------ */

/* The CUDA version that the driver supports: 12040 is 12.4. */
TILE_API tile_status tile_driver_version(int32_t *version);
TILE_API tile_status tile_device_count(int32_t *count);

typedef struct tile_device_info {
  size_t size; /* of this struct */
  char name[256];
  char target[16]; /* what to compile for: "sm_90a" */
  int32_t compute_major, compute_minor;
  uint64_t memory_bytes;
  int32_t multiprocessors;
  int32_t shared_bytes_per_block; /* the most a block can have */
  int32_t l2_bytes;
} tile_device_info;
TILE_API tile_status tile_device_get_info(int32_t ordinal, tile_device_info *info);

/* ---- Loading and launching ---------------------------------------------- */

typedef struct tile_function tile_function; /* a kernel loaded on a context */
typedef struct tile_launch tile_launch;     /* a launch with kept arguments */

/* Loads a kernel; the second time on one context returns the same code again,
 * counted. The driver compiles the PTX here, unless there is machine code
 * (`ptxas` of tile_compiler_options). The context must outlive the function. */
TILE_API tile_status tile_function_load(tile_kernel *kernel, void *context,
                                        tile_function **function);
TILE_API void tile_function_destroy(tile_function *function);

typedef struct tile_function_info {
  size_t size;         /* of this struct */
  void *context;       /* CUcontext */
  void *handle;        /* CUfunction, for calls of the driver's own */
  int32_t registers;   /* a thread's */
  int32_t local_bytes; /* a thread's stack and spilled registers */
  int32_t from_cubin;  /* 1: machine code was loaded, see `ptxas` of tile_compiler_options */
  double load_ms;      /* in the driver: compiling and loading */
} tile_function_info;
TILE_API tile_status tile_function_get_info(const tile_function *function,
                                            tile_function_info *info);

/* The value of an argument whose signature entry is tensordesc<...>. */
typedef struct tile_descriptor {
  void *base;         /* device address */
  int64_t shape[5];   /* elements, outermost first */
  int64_t strides[5]; /* elements */
  int32_t rank;
} tile_descriptor;

typedef struct tile_launch_options {
  size_t size;       /* of this struct */
  int32_t dependent; /* 1: may start before the work before it in the stream ends; the kernel must
                        wait for it (programmatic dependent launch). 0: starts after it. Default -1:
                        1 for kernels that are compiled to wait, which those for sm_90 and later
                        are, where the driver can (12.3 and later) */
} tile_launch_options;
TILE_API void tile_launch_options_init_sized(tile_launch_options *options, size_t size);
static inline void tile_launch_options_init(tile_launch_options *options) {
  tile_launch_options_init_sized(options, sizeof *options);
}

/* Launches grid[0] * grid[1] * grid[2] programs on a stream of the function's
 * context, without waiting. A grid with a zero launches nothing, successfully.
 * arguments[i] points to the value of entry i of the signature (a device
 * address for a pointer); entries fixed by the signature (`:1`, none, const=)
 * may be NULL. A tuple's points to an array of such pointers, a descriptor's to
 * a tile_descriptor. Values are copied before the call returns. `options` may
 * be NULL. May be captured into a CUDA graph. */
TILE_API tile_status tile_function_launch(const tile_function *function, void *stream,
                                          const uint32_t grid[3], const void *const *arguments,
                                          size_t num_arguments, const tile_launch_options *options);

/* Whether values of these sizes can be the arguments of a launch: sizes[i] is that of the value
 * of entry i of the signature, 0 if it is not known. tile.hpp asks, since it knows the types. */
TILE_API tile_status tile_function_check_sizes(const tile_function *function, const size_t *sizes,
                                               size_t num_arguments);

/* A prepared launch keeps copies of its arguments: set those that change, run.
 * One that is run again and again on one stream with nothing changed is repeated
 * as a CUDA graph, which takes less than half of a launch's CPU time. */
TILE_API tile_status tile_launch_create(const tile_function *function, tile_launch **launch);
TILE_API void tile_launch_destroy(tile_launch *launch);
TILE_API tile_status tile_launch_set_argument(tile_launch *launch, size_t index, const void *value);
TILE_API tile_status tile_launch_set_arguments(tile_launch *launch, const void *const *values,
                                               size_t num_values);
/* The same for a prepared launch and entries from `first` on. */
TILE_API tile_status tile_launch_check_sizes(const tile_launch *launch, size_t first,
                                             const size_t *sizes, size_t num_values);
TILE_API tile_status tile_launch_set_grid(tile_launch *launch, const uint32_t grid[3]);
TILE_API tile_status tile_launch_set_options(tile_launch *launch,
                                             const tile_launch_options *options);
TILE_API tile_status tile_launch_run(tile_launch *launch, void *stream);

/* ---- Functions of whole tensors ------------------------------------------- */

/* A @tile.function (docs/functions.md), compiled for the types of its parameters. One
 * program serves all sizes: a run with sizes of another kind (a row that does not fit a
 * block any more, say) compiles a kernel the first time, no other does. A program may be
 * used by one thread at a time.
 *
 *   tile_program_options options;  tile_program_options_init(&options);
 *   options.function = "layer_norm";  options.types = "fp16";
 *   tile_program *program;    tile_program_compile_file(compiler, "norms.tile", &options,
 * &program); tile_tensor x = {device_x, 2, {rows, columns}}, w = {...}, b = {...}, out =
 * {device_out}; float eps = 1e-5f;        const void *arguments[] = {&x, &w, &b, &eps};
 *   tile_program_run(program, stream, arguments, 4, &out, 1, workspace, workspace_bytes);
 */
typedef struct tile_program tile_program;

#define TILE_TENSOR_RANK 8
typedef struct tile_tensor {
  void *data;                        /* device address of the first element */
  int32_t rank;                      /* dimensions */
  int64_t shape[TILE_TENSOR_RANK];   /* elements, outermost first */
  int64_t strides[TILE_TENSOR_RANK]; /* elements; all 0: there are no gaps */
} tile_tensor;

typedef struct tile_program_options {
  size_t size;          /* of this struct */
  const char *function; /* NULL: the file's only one */
  /* Types of elements, in the order of the parameters that are tensors and do not say
   * theirs: "fp16,fp32". One alone is that of all. NULL: "fp32". */
  const char *types;
  const char *target; /* as in tile_compile_options */
  /* "default", or "reduce-overhead": a run with the addresses, sizes, numbers and stream of an
   * earlier one is recorded as a CUDA graph, and repeated from then on by one call of the driver,
   * without looking at shapes or allocating. The last eight such runs are remembered.
   * "max-autotune": the same, and kernels run in the cuts into blocks that are fastest. The first
   * run for some sizes measures those that may be faster than the compiler's choice, which takes
   * seconds, waits for the device and has memory of its own meanwhile; what the run leaves is the
   * same. Which are fastest is kept on record. A run that somebody captures measures nothing.
   * NULL: "default". */
  const char *mode;
  /* Of "max-autotune", as in tile_jit_options: a file of records that people read, NULL:
   * $TILE_TUNING, "": none; and 1: nothing is timed, and what is not on record runs as in
   * "default". */
  const char *tuning_file;
  int32_t no_timing;
} tile_program_options;
TILE_API void tile_program_options_init_sized(tile_program_options *options, size_t size);
static inline void tile_program_options_init(tile_program_options *options) {
  tile_program_options_init_sized(options, sizeof *options);
}

/* Constants (tl.constexpr) have their defaults. `options` may be NULL. */
TILE_API tile_status tile_program_compile_file(tile_compiler *compiler, const char *path,
                                               const tile_program_options *options,
                                               tile_program **program);
TILE_API tile_status tile_program_compile_buffer(tile_compiler *compiler, const char *name,
                                                 const char *source, size_t length,
                                                 const tile_program_options *options,
                                                 tile_program **program);
TILE_API void tile_program_destroy(tile_program *program);

typedef struct tile_program_info {
  size_t size;           /* of this struct */
  int32_t num_arguments; /* parameters that are no constants */
  int32_t num_results;
  int32_t num_kernels;      /* that a run launches at most */
  int32_t kernels_compiled; /* so far */
} tile_program_info;
TILE_API tile_status tile_program_get_info(const tile_program *program, tile_program_info *info);

/* As tile_function_check_sizes: a tensor's is that of a tile_tensor. */
TILE_API tile_status tile_program_check_sizes(const tile_program *program, const size_t *sizes,
                                              size_t num_arguments);
/* arguments[i] points to a tile_tensor for a tensor, whose `data` does not count here, and to
 * the value for a number. Sets rank, shape and strides of result `index`; `type` (may be NULL)
 * receives the type of its elements, "fp16", a string of the program. */
TILE_API tile_status tile_program_result(tile_program *program, const void *const *arguments,
                                         size_t num_arguments, size_t index, tile_tensor *result,
                                         const char **type);
/* What a run with such arguments, their shapes and strides, needs for what lies between its
 * kernels; often 0. Arrays with gaps may need more: what the function reads in another shape is
 * copied. */
TILE_API tile_status tile_program_workspace(tile_program *program, const void *const *arguments,
                                            size_t num_arguments, size_t *bytes);

/* Launches the kernels on a stream of the calling thread's context, without waiting. Of
 * results[i] only `data` counts: room for the result, without gaps. The workspace is aligned to
 * 256 bytes and is free again when the kernels are done. No memory of the device is allocated.
 * Values are copied before the call returns; may be captured into a CUDA graph. */
TILE_API tile_status tile_program_run(tile_program *program, void *stream,
                                      const void *const *arguments, size_t num_arguments,
                                      const tile_tensor *results, size_t num_results,
                                      void *workspace, size_t workspace_bytes);

/* ---- Device memory, for programs that have no other means ---------------- */

/* In the given context (see above). Copies return when done; they, and
 * tile_memory_set, are ordered in `stream`. */
TILE_API tile_status tile_memory_alloc(void *context, size_t bytes, void **pointer);
TILE_API tile_status tile_memory_free(void *context, void *pointer);
TILE_API tile_status tile_memory_upload(void *context, void *device, const void *host, size_t bytes,
                                        void *stream);
TILE_API tile_status tile_memory_download(void *context, void *host, const void *device,
                                          size_t bytes, void *stream);
TILE_API tile_status tile_memory_set(void *context, void *device, int32_t byte, size_t bytes,
                                     void *stream);
/* Waits for a stream; with NULL, for everything in the context. */
TILE_API tile_status tile_synchronize(void *context, void *stream);

/* ---- The emulator: kernels without a GPU ---------------------------------- */

/* Runs the compiled kernel, as it is before it becomes PTX, thread by thread on
 * the CPU, and finds races, missing barriers and fences, accesses out of bounds
 * (docs/emulator.md). Slow, for tests. An emulator is used by one thread at a
 * time. */
typedef struct tile_emulator tile_emulator;
typedef struct tile_emulated tile_emulated; /* a kernel compiled for an emulator */

typedef struct tile_emulator_options {
  size_t size;       /* of this struct */
  int32_t check;     /* races and unwritten shared memory too; default 1 */
  int32_t threads;   /* of the host; 0: one a core. Default 0 */
  int32_t schedules; /* random orders of threads to run and compare besides the usual. Default 0 */
  uint64_t seed;     /* of the first of them. Default 1 */
  int32_t counters;  /* count what launches do, for tile_emulator_counters; default 0 */
  uint64_t launch_limit; /* what one launch may do, in operations on elements; 0: anything.
                            Default 10^11, some minutes */
} tile_emulator_options;
TILE_API void tile_emulator_options_init_sized(tile_emulator_options *options, size_t size);
static inline void tile_emulator_options_init(tile_emulator_options *options) {
  tile_emulator_options_init_sized(options, sizeof *options);
}

/* `options` may be NULL. */
TILE_API tile_status tile_emulator_create(const tile_emulator_options *options,
                                          tile_emulator **emulator);
/* Its kernels must have been destroyed. Frees its memory. */
TILE_API void tile_emulator_destroy(tile_emulator *emulator);

/* Memory that emulated kernels may touch. It is the host's: read and write it. */
TILE_API tile_status tile_emulator_alloc(tile_emulator *emulator, size_t bytes, void **pointer);
TILE_API tile_status tile_emulator_free(tile_emulator *emulator, void *pointer);

/* Compiles one kernel of `length` bytes of source called `name`. A NULL target
 * is sm_90a here. */
TILE_API tile_status tile_emulator_load(tile_emulator *emulator, const char *name,
                                        const char *source, size_t length,
                                        const tile_compile_options *options,
                                        tile_emulated **kernel);
TILE_API void tile_emulated_destroy(tile_emulated *kernel);

/* Runs it to its end; arguments as for tile_function_launch. What the emulator
 * finds is TILE_KERNEL_FAULT, and the message is the report. */
TILE_API tile_status tile_emulated_launch(const tile_emulated *kernel, const uint32_t grid[3],
                                          const void *const *arguments, size_t num_arguments);

/* What all launches so far did, as JSON: requests and sectors of global memory, passes
 * over the banks of shared memory, bytes, instructions; their sums, and those of each kernel
 * under "kernels". The emulator owns the text, which the next call replaces. */
TILE_API const char *tile_emulator_counters(tile_emulator *emulator, size_t *length);

#ifdef __cplusplus
}
#endif

#endif /* TILE_TILE_H */

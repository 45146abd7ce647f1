-- The tables of the index, and the views (`..._readable`) for people with common SQL tools.
--
-- A call refers to a stack, and a stack to the leaf of a path in the tree of nodes. The stack of an FFI handler's run
-- also refers to the handler frame below the Python stack of its `ffi_call`. A node refers to a frame; a frame to a
-- function and a location in a file. Lines are 1-based, in the file state `version`, else in the indexed file.
-- Addresses are 64 bits, stored signed.
--
-- With every change that an older framedex cannot read, raise `VERSION` in schema.py. Each statement begins with CREATE
-- at the beginning of a line. The database does not store comments.


-- Files, captures and their contents

-- Every path of a frame or definition, once: on this machine, recorded on another, or of a source map
-- (`jax:jax/_src/api.py`), which is not a local file.
CREATE TABLE files(
    id INTEGER PRIMARY KEY,
    path TEXT
);
CREATE UNIQUE INDEX idx_files_path ON files (path);

-- The file states that exact lines refer to.
CREATE TABLE file_versions(
    id INTEGER PRIMARY KEY,
    file INTEGER REFERENCES files(id),
    modified INTEGER,  -- ns since 1970
    size INTEGER,  -- bytes
    blob TEXT,  -- git's id of its content; empty if it had changed before it was read
    is_own INTEGER,  -- whether it is a file of the program itself: lines of its states are counted separately
    text BLOB  -- its content, compressed by zlib; NULL for files of installed packages and of the system
);
CREATE UNIQUE INDEX idx_file_versions_file_blob ON file_versions (file, blob);
CREATE INDEX idx_file_versions_blob ON file_versions (blob);

-- The recordings. A capture that grew and is read again keeps its id.
CREATE TABLE captures(
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused, even after a removal, because people write it down
    path TEXT,  -- its last known path
    identity TEXT,  -- identifies it at any path
    signature TEXT,  -- signature of its content when read, which may have grown since; empty until it is complete here
    started REAL,  -- s since 1970
    run INTEGER,  -- its run: all captures of one `framedex run` have the same number; later runs have greater ones
    launch TEXT,  -- the id of its `framedex run`; NULL if none
    command TEXT,
    calls INTEGER,  -- number of calls in the index
    stacks INTEGER,  -- number of stacks
    first_call INTEGER,  -- the ids of a capture's calls are one range, in order of start
    last_call INTEGER,
    reserved_call INTEGER,  -- the last id reserved for this capture's calls
    -- the signature of the content being read, or the process that follows it; NULL once it is complete
    reading TEXT,
    metadata TEXT,  -- JSON: the recorder's data about the run
    is_on_mock INTEGER,  -- 1 if it has functions of the mock TPU
    plugins TEXT,  -- JSON: the paths of its plug-ins, or 'the mock TPU', by boundary; NULL if it does not have them
    problems TEXT,  -- JSON: sentences
    stops TEXT  -- why it ends before its program did, as JSON of `model.StopReasons`; NULL where it does not
);
CREATE UNIQUE INDEX idx_captures_identity ON captures (identity);
CREATE INDEX idx_captures_run ON captures (run);
CREATE INDEX idx_captures_launch ON captures (launch);
CREATE INDEX idx_captures_reserved_call ON captures (reserved_call);

-- The threads of a capture that made calls.
CREATE TABLE threads(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    tid INTEGER,  -- the system's id
    name TEXT,
    label TEXT  -- what tells it from the others, which may have the same name
);
CREATE INDEX idx_threads_capture ON threads (capture);

-- The binaries of native frames.
CREATE TABLE modules(
    id INTEGER PRIMARY KEY,
    path TEXT,
    build_id TEXT,  -- hex; empty if none
    fingerprint TEXT,  -- of samples of its content; empty if not taken
    content TEXT,  -- the SHA-256 of all of it, hex; empty if unknown
    named_from INTEGER  -- what its functions are named by: 0 nothing, as it was not here, 1 symbols, 2 debug information
);
CREATE UNIQUE INDEX idx_modules_path_build_id_fingerprint ON modules (path, build_id, fingerprint);

-- The components whose code was recorded.
CREATE TABLE builds(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    component TEXT,  -- xla, jax, jaxlib, cpython
    version TEXT,  -- of its release
    revision TEXT,  -- the commit or tag of its repository, empty if unknown
    folder TEXT  -- where it was installed when it was recorded
);
CREATE INDEX idx_builds_capture ON builds (capture);


-- Parts of stacks

-- The functions of frames. Native: as named by the binary; Python: a code object.
CREATE TABLE functions(
    id INTEGER PRIMARY KEY,
    language TEXT,  -- native, python
    role TEXT,  -- code, or a role that readers may hide: interpreter, glue
    name TEXT,  -- readable
    short_name TEXT,  -- its last component
    symbol TEXT,  -- empty if no symbol covers the address
    mangled TEXT,  -- as in the binary
    module TEXT,  -- the binary's path, or the Python file as recorded
    unit TEXT,  -- the translation unit: static functions of one name are several functions
    first_line INTEGER,  -- of a Python code object; 0 for native functions
    file INTEGER REFERENCES files(id),
    line INTEGER,
    how TEXT,  -- evidence for file and line (model.LocationEvidence); NULL if unknown
    -- the file state of an exact line; NULL for lines found in indexed sources
    version INTEGER REFERENCES file_versions(id),
    end_line INTEGER,
    -- of a Python code object, as recorded: `file` may be another local file
    recorded_file INTEGER REFERENCES files(id),
    calls INTEGER,  -- calls with it on their stack
    run INTEGER,  -- the latest run with such calls; 0: none
    run_calls INTEGER,  -- such calls of that run
    release TEXT,  -- the jaxlib release: of the binary itself, or the one that it ran with; else empty
    is_release_known INTEGER  -- whether the binary was built from that release's sources
);
CREATE INDEX idx_functions_module_name_symbol_unit_first_line_release
    ON functions (module, name, symbol, unit, first_line, release);
CREATE INDEX idx_functions_short_name ON functions (short_name);
CREATE INDEX idx_functions_name ON functions (name);
CREATE INDEX idx_functions_file_line ON functions (file, line);

-- A function at one location in it. A recorded frame with inlined functions becomes several rows.
CREATE TABLE frames(
    id INTEGER PRIMARY KEY,
    function INTEGER REFERENCES functions(id),
    module INTEGER REFERENCES modules(id),  -- NULL for Python frames
    offset INTEGER,  -- native: the return address from the module's base; Python: the instruction's byte offset
    depth INTEGER,  -- 0: the physical function; inlined ones count inwards from it
    inlined INTEGER,  -- whether its code is inside another function's
    is_returning INTEGER,  -- a Python frame that has ended, while what it held is being destroyed
    file INTEGER REFERENCES files(id),
    line INTEGER,
    how TEXT,  -- as for functions
    version INTEGER REFERENCES file_versions(id),  -- as for functions
    -- the location in debug information or the code object; `file` and `line` are the local one. For Python code
    -- without a file (`<string>`), only the line
    recorded_file INTEGER REFERENCES files(id),
    recorded_line INTEGER
);
CREATE INDEX idx_frames_recorded_file ON frames (recorded_file);
CREATE INDEX idx_frames_file_line ON frames (file, line);
CREATE INDEX idx_frames_function_offset_recorded_line_is_returning
    ON frames (function, offset, recorded_line, is_returning);
CREATE INDEX idx_frames_module_offset_depth ON frames (module, offset, depth);

-- The other possible locations of a frame without an exact line, the likeliest first. For a range of lines (`between`),
-- its last line; the frame has the first.
CREATE TABLE candidates(
    frame INTEGER REFERENCES frames(id),
    rank INTEGER,
    file INTEGER REFERENCES files(id),
    line INTEGER,
    how TEXT,
    PRIMARY KEY (frame, rank)
);

-- The tree of stacks: a stack is the path from the root (parent 0) to a node, outermost frame first. Common beginnings
-- are stored once.
CREATE TABLE nodes(
    id INTEGER PRIMARY KEY,
    parent INTEGER,  -- 0: the root
    frame INTEGER REFERENCES frames(id),
    depth INTEGER,  -- 0: outermost
    -- the innermost frame of the program's own Python here or above, else the innermost Python frame; 0: none
    user_node INTEGER,
    calls INTEGER,  -- of all stacks that end here or below
    longest INTEGER,  -- nanoseconds of the stack and boundary function below that took longest, all calls together
    makes_client INTEGER,  -- whether the runtime's client was created here or below
    run INTEGER,  -- the latest run with calls here; 0: none
    run_calls INTEGER,  -- of that run alone, like the next column
    run_longest INTEGER
);
CREATE UNIQUE INDEX idx_nodes_parent_frame ON nodes (parent, frame);
CREATE INDEX idx_nodes_frame_longest ON nodes (frame, longest);
CREATE INDEX idx_nodes_frame_run_longest ON nodes (frame, run, run_longest);

-- The stacks of calls: the leaf of a path in the tree, or up to three leaves.
CREATE TABLE stacks(
    id INTEGER PRIMARY KEY,
    leaf INTEGER,
    python_leaf INTEGER,  -- 0, or the leaf of the Python stack if the two could not be merged
    site_leaf INTEGER,  -- 0, or the handler below the stack of its ffi_call
    outcome TEXT,  -- of merging the native and the Python frames (model.MergeOutcome)
    is_truncated INTEGER  -- whether its outermost frames are missing
);
CREATE UNIQUE INDEX idx_stacks_leaf_python_leaf_site_leaf_outcome_is_truncated
    ON stacks (leaf, python_leaf, site_leaf, outcome, is_truncated);
CREATE INDEX idx_stacks_python_leaf ON stacks (python_leaf);
CREATE INDEX idx_stacks_site_leaf ON stacks (site_leaf);


-- Calls

-- The functions whose calls are recorded, such as those of the PJRT table.
CREATE TABLE boundaries(
    id INTEGER PRIMARY KEY,
    boundary TEXT,  -- pjrt, ffi, ...
    name TEXT
);
CREATE UNIQUE INDEX idx_boundaries_name_boundary ON boundaries (name, boundary);

-- The arguments and results of calls. Once per capture; not indexed by their text.
CREATE TABLE arguments(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    json TEXT,  -- an object
    has_shape INTEGER  -- whether an array's dimensions are among them
);
CREATE INDEX idx_arguments_capture ON arguments (capture);

-- The common properties of calls, without times and arguments: there are few kinds for millions of calls.
CREATE TABLE call_kinds(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    boundary INTEGER REFERENCES boundaries(id),
    thread INTEGER REFERENCES threads(id),
    stack INTEGER REFERENCES stacks(id),
    error INTEGER,  -- the status code, 0: success; -1: unreturned when the recording ended
    -- totals of all calls of this kind, updated by every write
    calls INTEGER,  -- number of calls
    duration INTEGER,  -- ns
    own_duration INTEGER,  -- ns, without nested calls
    longest INTEGER,  -- ns
    longest_call INTEGER,  -- the last call of that duration
    first_call INTEGER,
    latest_call INTEGER
);
CREATE UNIQUE INDEX idx_call_kinds_stack_capture_boundary_thread_error
    ON call_kinds (stack, capture, boundary, thread, error);
CREATE INDEX idx_call_kinds_capture_boundary ON call_kinds (capture, boundary);
CREATE INDEX idx_call_kinds_boundary ON call_kinds (boundary);

-- The recorded calls, as the view `calls` shows them.
CREATE TABLE call_rows(
    id INTEGER PRIMARY KEY,
    kind INTEGER REFERENCES call_kinds(id),
    inside INTEGER,  -- the enclosing call is this many ids earlier; NULL if none
    start INTEGER,  -- ns since the recording began
    duration INTEGER,  -- ns; negative: unreturned when the recording ended
    arguments INTEGER REFERENCES arguments(id)
);

-- The positions of a kind's calls, instead of an index of all of them: the first and last call of the kind in each 256
-- calls of a capture.
CREATE TABLE call_spans(
    kind INTEGER REFERENCES call_kinds(id),
    first_call INTEGER,
    last_call INTEGER,
    PRIMARY KEY (kind, first_call)
) WITHOUT ROWID;

-- The number of calls by duration, boundary function and thread. A bucket has the durations with equal first seven
-- binary digits (`framedex.index.file.values`), so its error is within 0.8 percent.
CREATE TABLE call_durations(
    capture INTEGER REFERENCES captures(id),
    boundary INTEGER REFERENCES boundaries(id),
    thread INTEGER REFERENCES threads(id),
    bucket INTEGER,
    calls INTEGER,
    PRIMARY KEY (capture, boundary, thread, bucket)
) WITHOUT ROWID;

-- The Python stack, on another thread, that caused a call: an inference, with its evidence.
CREATE TABLE call_links(
    call INTEGER REFERENCES call_rows(id),
    thread INTEGER REFERENCES threads(id),
    node INTEGER REFERENCES nodes(id),  -- the innermost node of that stack
    how TEXT,  -- model.LinkHow
    PRIMARY KEY (call, thread)
);
CREATE INDEX idx_call_links_node ON call_links (node);


-- Objects of the runtime

-- The types of objects: buffer, executable, event, ...
CREATE TABLE object_types(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    name TEXT
);
CREATE UNIQUE INDEX idx_object_types_capture_name ON object_types (capture, name);

-- The objects of the runtime, as the view `objects` shows them. A capture's objects are in order of their birth.
CREATE TABLE object_rows(
    id INTEGER PRIMARY KEY,
    type INTEGER REFERENCES object_types(id),
    number INTEGER,  -- displayed as `type#number`
    address INTEGER,  -- 64 bits, signed
    born INTEGER,  -- ns since the recording began: from then on, the address means this object
    created_call INTEGER,  -- NULL: it belongs to another object, or existed before
    first_call INTEGER,
    last_call INTEGER,
    deleted_call INTEGER,
    destroyed_call INTEGER,
    uses INTEGER,  -- number of calls with it as a value
    client INTEGER REFERENCES object_rows(id),
    size INTEGER  -- bytes, NULL where no call tells
);
CREATE INDEX idx_object_rows_address ON object_rows (address);
CREATE INDEX idx_object_rows_type_undestroyed ON object_rows (type) WHERE destroyed_call IS NULL;

-- The range of ids of a capture's objects.
CREATE TABLE object_ranges(
    capture INTEGER REFERENCES captures(id),
    first_object INTEGER,
    last_object INTEGER,
    PRIMARY KEY (capture, first_object)
) WITHOUT ROWID;

-- The number of objects of a type created by the calls of a kind.
CREATE TABLE created_objects(
    type INTEGER REFERENCES object_types(id),
    kind INTEGER REFERENCES call_kinds(id),
    objects INTEGER,
    PRIMARY KEY (type, kind)
) WITHOUT ROWID;

-- Misused objects: used after destruction, destroyed twice, ...
CREATE TABLE violations(
    id INTEGER PRIMARY KEY,
    kind TEXT,
    object INTEGER REFERENCES object_rows(id),
    call INTEGER REFERENCES call_rows(id),
    earlier_call INTEGER
);
CREATE INDEX idx_violations_object ON violations (object);


-- Programs: the compiled form of a function, with the Python lines of its ops

-- The programs stored in captures, each once: captures share equal programs.
CREATE TABLE programs(
    id INTEGER PRIMARY KEY,
    digest TEXT,  -- SHA-256 of it
    name TEXT,  -- of its module, such as jit_f
    function TEXT,  -- the jitted function, such as f; empty if unknown
    defined TEXT,  -- its definition, to distinguish functions with one name; empty if unknown
    signature TEXT,  -- JSON of model.Signature; NULL if unknown
    size INTEGER,  -- bytes
    ops INTEGER,  -- number of ops
    problem TEXT,  -- the missing parts of the program, as a sentence; empty if complete
    run INTEGER  -- the latest that compiled it
);
CREATE UNIQUE INDEX idx_programs_digest ON programs (digest);

-- The lines in programs.
CREATE TABLE program_frames(
    id INTEGER PRIMARY KEY,
    recorded_file INTEGER REFERENCES files(id),  -- `file` may be another local file
    line INTEGER,
    function TEXT,  -- its function; empty if the program does not have it
    file INTEGER REFERENCES files(id),
    version INTEGER REFERENCES file_versions(id)  -- the state of the file when it was last named
);
CREATE INDEX idx_program_frames_recorded_file_line_function ON program_frames (recorded_file, line, function);
CREATE INDEX idx_program_frames_file_line ON program_frames (file, line);

-- The kinds of ops.
CREATE TABLE program_ops(
    id INTEGER PRIMARY KEY,
    kind TEXT,  -- of StableHLO: sine
    name TEXT  -- as JAX has it: jit(f)/sin
);
CREATE UNIQUE INDEX idx_program_ops_name_kind ON program_ops (name, kind);

-- The ops of a line itself.
CREATE TABLE program_lines(
    frame INTEGER REFERENCES program_frames(id),
    program INTEGER REFERENCES programs(id),
    op INTEGER REFERENCES program_ops(id),
    ops INTEGER,  -- number of ops
    PRIMARY KEY (frame, program, op)
) WITHOUT ROWID;
CREATE INDEX idx_program_lines_program ON program_lines (program);

-- The ops that the program's own lines add to programs.
CREATE TABLE program_own_lines(
    frame INTEGER REFERENCES program_frames(id),
    program INTEGER REFERENCES programs(id),
    ops INTEGER,  -- ops with this innermost line of the program itself
    repeats INTEGER,  -- how often it adds the same ops, like a line in a loop; 1: once
    repeated_ops INTEGER,  -- of all repeats, with those of called functions
    PRIMARY KEY (frame, program)
) WITHOUT ROWID;
CREATE INDEX idx_program_own_lines_program ON program_own_lines (program);

-- Neighbours in the stacks of ops: `origin` called the function of `target`.
CREATE TABLE program_steps(
    origin INTEGER REFERENCES program_frames(id),
    target INTEGER REFERENCES program_frames(id),
    program INTEGER REFERENCES programs(id),
    ops INTEGER,  -- number of ops with this pair
    PRIMARY KEY (origin, target, program)
) WITHOUT ROWID;
CREATE INDEX idx_program_steps_target ON program_steps (target);
CREATE INDEX idx_program_steps_program ON program_steps (program);

-- The temporaries of optimised programs.
CREATE TABLE program_memory(
    id INTEGER PRIMARY KEY,
    digest TEXT,  -- SHA-256 of the optimised program
    is_exact INTEGER,  -- whether the compiler reported sizes and offsets; otherwise they are computed from shapes
    peak INTEGER,  -- bytes
    peak_step INTEGER,  -- of the schedule
    steps INTEGER,
    over_time TEXT  -- JSON of pairs: a step, the bytes that are alive at it
);
CREATE UNIQUE INDEX idx_program_memory_digest ON program_memory (digest);

-- The temporaries that are alive at the peak of a program, the largest first.
CREATE TABLE program_buffers(
    memory INTEGER REFERENCES program_memory(id),
    number INTEGER,
    instruction TEXT,  -- the instruction that defines it: fusion.3
    opcode TEXT,
    op TEXT,  -- in JAX's form: jit(f)/sort; empty if XLA added the instruction
    shape TEXT,
    size INTEGER,  -- bytes
    first INTEGER,  -- step of the schedule
    last INTEGER,
    last_instruction TEXT,  -- the last instruction that uses it
    is_near INTEGER,  -- whether its lines are those of the nearest instruction with lines
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;

-- The lines of temporaries: the stack of the op, innermost first, and the ops of a fusion.
CREATE TABLE program_buffer_lines(
    memory INTEGER REFERENCES program_memory(id),
    buffer INTEGER,
    is_fused INTEGER,
    position INTEGER,
    op TEXT,  -- of a fusion
    frame INTEGER REFERENCES program_frames(id),  -- NULL if the op has no line
    PRIMARY KEY (memory, buffer, is_fused, position)
) WITHOUT ROWID;
CREATE INDEX idx_program_buffer_lines_frame ON program_buffer_lines (frame);

-- The collectives of optimised programs, in the order of the schedule.
CREATE TABLE program_collectives(
    memory INTEGER REFERENCES program_memory(id),
    number INTEGER,
    opcode TEXT,  -- of HLO: all-gather
    op TEXT,  -- as JAX has it: jit(f)/dot_general
    shape TEXT,  -- of the result on each device: f32[4,8]
    size INTEGER,  -- of it, in bytes
    devices INTEGER,  -- in a group; 0 if unknown
    is_repeated INTEGER,  -- in a loop
    is_requested INTEGER,  -- 0: inserted by the compiler
    frame INTEGER REFERENCES program_frames(id),  -- its line of the program itself, else the innermost; NULL if unknown
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;
CREATE INDEX idx_program_collectives_frame ON program_collectives (frame);

-- The fusions of optimised programs that have ops of several lines, those with the most ops first.
CREATE TABLE program_fusions(
    memory INTEGER REFERENCES program_memory(id),
    number INTEGER,
    instruction TEXT,  -- the first of them: fusion.3
    op TEXT,  -- as JAX has it: jit(f)/add; empty if XLA added the instruction
    fusions INTEGER,  -- number of fusions with this op and these lines
    PRIMARY KEY (memory, number)
) WITHOUT ROWID;

-- The lines of a fusion.
CREATE TABLE program_fusion_lines(
    memory INTEGER REFERENCES program_memory(id),
    fusion INTEGER,
    frame INTEGER REFERENCES program_frames(id),
    ops INTEGER,  -- number of ops in one fusion
    PRIMARY KEY (memory, fusion, frame)
) WITHOUT ROWID;
CREATE INDEX idx_program_fusion_lines_frame ON program_fusion_lines (frame);

-- The calls that created an executable.
CREATE TABLE compilations(
    call INTEGER PRIMARY KEY REFERENCES call_rows(id),
    capture INTEGER REFERENCES captures(id),
    program INTEGER REFERENCES programs(id),  -- NULL if unknown
    executable INTEGER REFERENCES object_rows(id),  -- NULL if no executable was created
    options INTEGER REFERENCES compile_texts(id),  -- compile options by name; NULL if unknown
    noted INTEGER REFERENCES compile_texts(id),  -- JAX's data about it, model.CompileNote; NULL if unknown
    problem TEXT,  -- the reason for an unknown program; else empty
    sizes TEXT,  -- JSON of bytes by name: temporaries, code, arguments, results, aliased, peak; NULL: not reported
    memory INTEGER REFERENCES program_memory(id)  -- NULL if it has no temporaries, collectives and fusions, or they are unknown
);
CREATE INDEX idx_compilations_program_capture ON compilations (program, capture);
CREATE INDEX idx_compilations_executable ON compilations (executable);
CREATE INDEX idx_compilations_capture ON compilations (capture);

-- Texts about compilations, stored besides their programs, each once.
CREATE TABLE compile_texts(
    id INTEGER PRIMARY KEY,
    text TEXT  -- JSON
);
CREATE UNIQUE INDEX idx_compile_texts_text ON compile_texts (text);

-- The start-up phases timed by framedex's Python hooks, and JAX's later preparations of programs.
CREATE TABLE phases(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    thread INTEGER,  -- the system's id
    kind TEXT,  -- model.PhaseKind
    name TEXT,  -- the package, the backends, or the function as JAX names it
    start INTEGER,  -- ns since the recording began; negative: before
    duration INTEGER,  -- ns
    node INTEGER,  -- the innermost node of its Python stack; 0: unknown
    is_last INTEGER  -- whether later phases were left out
);
CREATE INDEX idx_phases_capture ON phases (capture);

-- The totals of an executable's runs, by kind.
CREATE TABLE executions(
    executable INTEGER REFERENCES object_rows(id),
    kind INTEGER REFERENCES call_kinds(id),
    capture INTEGER REFERENCES captures(id),
    calls INTEGER,
    duration INTEGER,  -- ns
    latest_call INTEGER,
    PRIMARY KEY (executable, kind)
) WITHOUT ROWID;
CREATE INDEX idx_executions_kind ON executions (kind);
CREATE INDEX idx_executions_capture ON executions (capture);


-- Transfers

-- Data moved between host and devices, by kind of transfer.
CREATE TABLE transfers(
    kind INTEGER REFERENCES call_kinds(id),
    capture INTEGER REFERENCES captures(id),
    direction TEXT,  -- host to device, device to host, device to device
    how TEXT,  -- the function that moved it, as in the program: device_put, float; empty: unknown
    -- whether JAX's transfer guard would stop it ("disallow"), or a host callback moves it
    is_implicit INTEGER,
    calls INTEGER,  -- calls with moved data
    duration INTEGER,  -- ns
    sized INTEGER,  -- calls with a known size
    bytes INTEGER,  -- bytes of those calls
    first_call INTEGER,
    latest_call INTEGER,
    PRIMARY KEY (kind, direction)
);
CREATE INDEX idx_transfers_capture ON transfers (capture);


-- Memory: live bytes on devices, computed once when the capture is complete

-- The memory of each device, and its use.
CREATE TABLE memory_devices(
    capture INTEGER REFERENCES captures(id),
    device TEXT,  -- its number on the mock TPU, else the memory of its buffers; empty: unknown
    peak INTEGER,  -- bytes
    peak_time INTEGER,  -- ns since the recording began
    peak_call INTEGER,  -- 0: reached before the recording
    at_end INTEGER,
    buffers INTEGER,
    unsized INTEGER,  -- buffers of unknown size, which are in no total
    temporaries INTEGER,  -- bytes of running programs' temporaries at the peak
    code INTEGER,  -- bytes of loaded programs' code at the peak
    program INTEGER,  -- the compilation of the program with the most temporaries at the peak; 0: none
    PRIMARY KEY (capture, device)
) WITHOUT ROWID;

-- Live bytes over time: at most a few thousand points, including the peak.
CREATE TABLE memory_points(
    capture INTEGER REFERENCES captures(id),
    device TEXT,
    point INTEGER,
    time INTEGER,
    bytes INTEGER,
    PRIMARY KEY (capture, device, point)
) WITHOUT ROWID;

-- The memory of lines: once by the line itself, and once more by its calling lines.
CREATE TABLE memory_lines(
    capture INTEGER REFERENCES captures(id),
    device TEXT,
    is_by_way INTEGER,  -- whether calling lines of the program distinguish it
    node INTEGER,  -- the innermost node of a stack to the line; 0: no Python known
    buffers INTEGER,
    allocated INTEGER,
    at_peak INTEGER,
    buffers_at_peak INTEGER,
    at_end INTEGER,
    most INTEGER,
    growth INTEGER,
    rounds INTEGER,
    latest_call INTEGER,
    temporaries INTEGER,  -- of `at_peak`
    PRIMARY KEY (capture, device, is_by_way, node)
) WITHOUT ROWID;

-- The calls that failed because memory was exhausted.
CREATE TABLE memory_failures(
    call INTEGER PRIMARY KEY REFERENCES call_rows(id),
    capture INTEGER REFERENCES captures(id),
    device TEXT,
    time INTEGER,
    node INTEGER,
    wanted INTEGER,  -- bytes; NULL if unknown
    alive INTEGER,
    program INTEGER  -- the compilation of the program that it was to run; 0: none, or unknown
);
CREATE INDEX idx_memory_failures_capture ON memory_failures (capture);

-- The live memory at that time, by line: the largest holders.
CREATE TABLE memory_held(
    call INTEGER REFERENCES memory_failures(call),
    node INTEGER,
    buffers INTEGER,
    bytes INTEGER,
    PRIMARY KEY (call, node)
) WITHOUT ROWID;


-- Waiting: Python threads blocked on the runtime, computed once when the capture is complete

-- The recorded time of each capture, and the part of it with running programs.
CREATE TABLE wait_totals(
    capture INTEGER PRIMARY KEY REFERENCES captures(id),
    recorded INTEGER,  -- ns
    device INTEGER,  -- ns; NULL if no call shows the end of a run
    -- times without calls until a thread's program had ended: whether it waited is unknown
    unseen INTEGER,  -- ns
    unseen_times INTEGER,
    unseen_call INTEGER  -- the call before the longest of them; 0: there was none
);

-- The waits of a thread, by the program lines that caused them.
CREATE TABLE waits(
    capture INTEGER REFERENCES captures(id),
    thread INTEGER REFERENCES threads(id),
    how TEXT,  -- the awaited event: model.WaitReason
    node INTEGER,  -- the innermost node of the program itself on the waiting stack
    waits INTEGER,
    unsure INTEGER,  -- waits whose end only the thread's next call shows
    unended INTEGER,  -- waits without a recorded end: they last at least until the recording ended
    duration INTEGER,  -- ns
    longest INTEGER,  -- ns
    longest_call INTEGER,
    longest_run INTEGER,  -- the call that ran the program which the longest wait was for; NULL if unknown
    longest_event INTEGER REFERENCES object_rows(id),  -- the event that it was for; NULL if unknown
    first_call INTEGER,
    latest_call INTEGER,
    PRIMARY KEY (capture, thread, how, node)
) WITHOUT ROWID;

-- The loops of threads; times in ns, totals over all iterations.
CREATE TABLE loops(
    capture INTEGER REFERENCES captures(id),
    number INTEGER,  -- 1: the longest loop
    thread INTEGER REFERENCES threads(id),
    node INTEGER,  -- a location in the program that each iteration passes
    rounds INTEGER,
    start INTEGER,  -- since the recording began
    duration INTEGER,
    median INTEGER,  -- of an iteration
    compile INTEGER,
    dispatch INTEGER,
    transfer INTEGER,
    wait INTEGER,
    PRIMARY KEY (capture, number)
) WITHOUT ROWID;

-- The iterations of a loop: all, or of very many the longest of equal groups.
CREATE TABLE loop_steps(
    capture INTEGER REFERENCES captures(id),
    loop INTEGER,
    number INTEGER,  -- 1: the first
    start INTEGER,
    duration INTEGER,
    compile INTEGER,
    dispatch INTEGER,
    transfer INTEGER,
    wait INTEGER,
    first_call INTEGER,
    PRIMARY KEY (capture, loop, number)
) WITHOUT ROWID;


-- FFI

-- The registered FFI targets.
CREATE TABLE ffi_targets(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    name TEXT,
    platform TEXT,
    api_version INTEGER,
    stages TEXT,  -- JSON: the stages with handlers
    is_wrapped INTEGER,
    registered_at TEXT  -- the Python stack, innermost frame first
);
CREATE INDEX idx_ffi_targets_capture_name ON ffi_targets (capture, name);

-- The target and stage of each boundary function that is a handler.
CREATE TABLE ffi_functions(
    boundary INTEGER PRIMARY KEY REFERENCES boundaries(id),
    target TEXT,
    stage TEXT  -- execute, instantiate, ...
);
CREATE INDEX idx_ffi_functions_target ON ffi_functions (target);

-- The frames of handlers.
CREATE TABLE ffi_handlers(
    frame INTEGER PRIMARY KEY REFERENCES frames(id),
    signature TEXT,  -- JSON
    implementation INTEGER REFERENCES frames(id)  -- of the function that the handler was made from
);
CREATE INDEX idx_ffi_handlers_implementation ON ffi_handlers (implementation);

-- The `ffi_call`s of programs.
CREATE TABLE ffi_sites(
    id INTEGER PRIMARY KEY,
    key TEXT,  -- a hash of its content: the same in every capture
    target TEXT,
    leaf INTEGER,  -- the node of its innermost frame; 0: not described by a capture yet
    user_node INTEGER,  -- the node of the program's innermost frame
    from_metadata INTEGER  -- whether its stack is only what the program's metadata tells
);
CREATE UNIQUE INDEX idx_ffi_sites_key ON ffi_sites (key);

-- The evidence that joins handler runs to sites; many runs share a join.
CREATE TABLE ffi_joins(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    how TEXT  -- model.Join
);
CREATE INDEX idx_ffi_joins_capture ON ffi_joins (capture);

-- The sites of a join: one, or all candidates.
CREATE TABLE ffi_candidates(
    join_id INTEGER REFERENCES ffi_joins(id),
    site INTEGER REFERENCES ffi_sites(id),
    PRIMARY KEY (join_id, site)
);
CREATE INDEX idx_ffi_candidates_site ON ffi_candidates (site);

-- The join of each call that is a handler run.
CREATE TABLE ffi_runs(
    call INTEGER PRIMARY KEY REFERENCES call_rows(id),
    join_id INTEGER REFERENCES ffi_joins(id)
);
CREATE INDEX idx_ffi_runs_join_id ON ffi_runs (join_id);

-- Problems of targets, such as calls of unregistered ones.
CREATE TABLE ffi_problems(
    id INTEGER PRIMARY KEY,
    capture INTEGER REFERENCES captures(id),
    target TEXT,
    platform TEXT,
    registered_for TEXT,  -- JSON: platforms
    sites TEXT,  -- JSON: keys
    message TEXT
);
CREATE INDEX idx_ffi_problems_capture ON ffi_problems (capture);


-- Totals, updated by every write, so that queries about a line or function scan no calls or stacks. Each exists twice:
-- for all captures, and in the columns `run...` for the latest run (`captures.run`) with any. The callees of a line
-- have no later run than the line itself, so the latest run's data at a line is in the rows of that run. `latest_call`
-- is always of that run.

-- Totals by stack and boundary function, over all captures.
CREATE TABLE stack_calls(
    stack INTEGER REFERENCES stacks(id),
    boundary INTEGER REFERENCES boundaries(id),
    calls INTEGER,
    duration INTEGER,  -- ns
    latest_call INTEGER,
    run INTEGER,
    run_calls INTEGER,
    run_duration INTEGER,
    PRIMARY KEY (stack, boundary)
);
CREATE INDEX idx_stack_calls_boundary ON stack_calls (boundary);

-- The same by capture, for queries about one of several runs.
CREATE TABLE capture_stacks(
    capture INTEGER REFERENCES captures(id),
    stack INTEGER REFERENCES stacks(id),
    boundary INTEGER REFERENCES boundaries(id),
    calls INTEGER,
    duration INTEGER,
    latest_call INTEGER,
    PRIMARY KEY (stack, capture, boundary)
);

-- A few sample argument objects of each stack and boundary function.
CREATE TABLE stack_samples(
    stack INTEGER REFERENCES stacks(id),
    boundary INTEGER REFERENCES boundaries(id),
    arguments INTEGER,
    PRIMARY KEY (stack, boundary, arguments)
);

-- Totals by line and boundary function: the calls with the line on their stack.
CREATE TABLE line_calls(
    file INTEGER REFERENCES files(id),
    line INTEGER,
    version INTEGER,  -- the state of the program's own file with the line; 0 for other files, and if unknown
    boundary INTEGER REFERENCES boundaries(id),
    calls INTEGER,
    duration INTEGER,  -- ns
    latest_call INTEGER,
    run INTEGER,
    run_calls INTEGER,
    run_duration INTEGER,
    PRIMARY KEY (file, line, version, boundary)
);

-- The calls on threads without Python that a line caused, which do not have it on their stack.
CREATE TABLE line_links(
    file INTEGER REFERENCES files(id),
    line INTEGER,
    version INTEGER,  -- as in line_calls
    boundary INTEGER REFERENCES boundaries(id),
    how TEXT,
    calls INTEGER,
    duration INTEGER,
    latest_call INTEGER,
    run INTEGER,
    run_calls INTEGER,
    run_duration INTEGER,
    PRIMARY KEY (file, line, version, boundary, how)
);

-- A few sample argument objects of the calls through a line.
CREATE TABLE line_samples(
    file INTEGER REFERENCES files(id),
    line INTEGER,
    version INTEGER,  -- as in line_calls
    arguments INTEGER,
    PRIMARY KEY (file, line, version, arguments)
);

-- Neighbours in stacks, as frames: `origin` called `target` directly.
CREATE TABLE steps(
    origin INTEGER REFERENCES frames(id),
    target INTEGER REFERENCES frames(id),
    calls INTEGER,
    run INTEGER,
    run_calls INTEGER,
    PRIMARY KEY (origin, target)
);
CREATE INDEX idx_steps_target ON steps (target);

-- The same, skipping interpreter and glue frames.
CREATE TABLE code_steps(
    origin INTEGER REFERENCES frames(id),
    target INTEGER REFERENCES frames(id),
    calls INTEGER,
    run INTEGER,
    run_calls INTEGER,
    PRIMARY KEY (origin, target)
);
CREATE INDEX idx_code_steps_target ON code_steps (target);

-- The same, skipping all frames without source.
CREATE TABLE readable_steps(
    origin INTEGER REFERENCES frames(id),
    target INTEGER REFERENCES frames(id),
    calls INTEGER,
    run INTEGER,
    run_calls INTEGER,
    PRIMARY KEY (origin, target)
);
CREATE INDEX idx_readable_steps_target ON readable_steps (target);

-- Neighbours in stacks, as functions: direct ones.
CREATE TABLE edges(
    caller INTEGER REFERENCES functions(id),
    callee INTEGER REFERENCES functions(id),
    calls INTEGER,
    run INTEGER,
    run_calls INTEGER,
    PRIMARY KEY (caller, callee)
);
CREATE INDEX idx_edges_callee ON edges (callee);

-- The same, skipping interpreter and glue frames.
CREATE TABLE code_edges(
    caller INTEGER REFERENCES functions(id),
    callee INTEGER REFERENCES functions(id),
    calls INTEGER,
    run INTEGER,
    run_calls INTEGER,
    PRIMARY KEY (caller, callee)
);
CREATE INDEX idx_code_edges_callee ON code_edges (callee);


-- Sources

-- The indexed source folders.
CREATE TABLE source_roots(
    id INTEGER PRIMARY KEY,
    path TEXT
);
CREATE UNIQUE INDEX idx_source_roots_path ON source_roots (path);

-- The imported source maps: the definitions of a commit without its text. Shipped maps have no rows in `source_files`:
-- they are read in place, and are listed here for their locations.
CREATE TABLE source_maps(
    id INTEGER PRIMARY KEY,
    prefix TEXT,  -- of its files' paths, which are not local
    component TEXT,
    repository TEXT,
    revision TEXT,  -- the commit
    is_dirty INTEGER,
    tool TEXT,
    is_nearest INTEGER,  -- 1: it represents a commit without a map; 2: for its definitions that both neighbours have
    release TEXT,  -- the jaxlib release of a shipped map; NULL: imported
    path TEXT,  -- the imported file, and its state then
    modified INTEGER,
    size INTEGER
);
CREATE UNIQUE INDEX idx_source_maps_component_imported ON source_maps (component) WHERE release IS NULL;
CREATE UNIQUE INDEX idx_source_maps_prefix_of_release ON source_maps (prefix) WHERE release IS NOT NULL;

-- The state of the release maps when functions were last looked up.
CREATE TABLE release_maps(
    state TEXT
);

-- The local files of recorded paths, by the project's settings at the last update.
CREATE TABLE path_rules(
    before TEXT PRIMARY KEY,
    after TEXT
);

-- The project's folder at each write of the index; the last row is the folder of its current paths.
CREATE TABLE project_folders(
    id INTEGER PRIMARY KEY,
    path TEXT
);

-- The parsed source files.
CREATE TABLE source_files(
    file INTEGER PRIMARY KEY REFERENCES files(id),
    root INTEGER REFERENCES source_roots(id),  -- NULL: read for a recorded frame, or from a map
    map INTEGER REFERENCES source_maps(id),
    language TEXT,
    modified INTEGER,  -- ns since 1970
    size INTEGER,  -- bytes
    content INTEGER,  -- a hash of its bytes
    blob TEXT,  -- git's id of its content; empty unless a frame is in it
    errors INTEGER,  -- places with syntax errors
    problems TEXT  -- JSON: sentences
);
CREATE INDEX idx_source_files_root ON source_files (root);
CREATE INDEX idx_source_files_map ON source_files (map);

-- The definitions in source files.
CREATE TABLE definitions(
    id INTEGER PRIMARY KEY,
    file INTEGER REFERENCES files(id),
    name TEXT,
    short_name TEXT,
    kind TEXT,  -- function, method, class, ...
    parameters TEXT,  -- as written
    line INTEGER,
    end_line INTEGER,
    is_const INTEGER,
    is_broken INTEGER  -- a syntax error in it
);
CREATE INDEX idx_definitions_short_name ON definitions (short_name);
CREATE INDEX idx_definitions_file ON definitions (file);

-- The calls written in a definition. One row per definition with calls, because there are millions of calls.
CREATE TABLE call_sites(
    definition INTEGER PRIMARY KEY REFERENCES definitions(id),
    sites TEXT  -- JSON: [line, column, kind, callee] of each
);

-- Facts from the #defines of all source files, which change how files are parsed.
CREATE TABLE macros(
    root TEXT NOT NULL,  -- the source folder in which it was read; empty outside of one
    macro TEXT NOT NULL,
    PRIMARY KEY (root, macro)
) WITHOUT ROWID;

-- Short names whose definitions or functions changed since the last matching: the work of the next run.
CREATE TABLE unmatched(
    short_name TEXT PRIMARY KEY
);


-- The search for names

-- Every short name of a definition, and the recorded names, once: the only text with substring search.
CREATE TABLE names(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    is_recorded INTEGER NOT NULL  -- whether something that ran has it
);
CREATE UNIQUE INDEX names_by_name ON names(name COLLATE NOCASE, name);
CREATE INDEX names_recorded ON names(id) WHERE is_recorded;

CREATE VIRTUAL TABLE name_parts
    USING fts5(name, content='names', content_rowid='id', columnsize=0, tokenize='trigram');
CREATE TRIGGER names_removed AFTER DELETE ON names BEGIN
    INSERT INTO name_parts(name_parts, rowid, name) VALUES ('delete', old.id, old.name);
END;


-- Views

CREATE VIEW functions_readable AS
    SELECT fn.id, fn.language, fn.role, fn.name, f.path, fn.line, fn.how, fn.module, fn.calls
    FROM functions fn LEFT JOIN files f ON f.id = fn.file;

CREATE VIEW frames_readable AS
    SELECT fr.id, fn.language, fn.name AS function, f.path, fr.line, fr.how, m.path AS module,
           fr.offset, fr.inlined, fr.is_returning
    FROM frames fr JOIN functions fn ON fn.id = fr.function
    LEFT JOIN files f ON f.id = fr.file LEFT JOIN modules m ON m.id = fr.module;

CREATE VIEW calls AS
    SELECT r.id, k.capture, k.boundary, k.thread, k.stack, r.id - r.inside AS parent, r.start, r.duration, k.error,
           r.arguments
    FROM call_rows r JOIN call_kinds k ON k.id = r.kind;

CREATE VIEW objects AS
    SELECT o.id, t.capture, t.name AS type, o.number, o.address, o.born, o.created_call, o.first_call, o.last_call,
           o.deleted_call, o.destroyed_call, o.uses, o.client, o.size
    FROM object_rows o JOIN object_types t ON t.id = o.type;

CREATE VIEW calls_readable AS
    SELECT c.id, p.path AS capture, c.start / 1e9 AS seconds, b.boundary, b.name AS function, t.label AS thread,
           CASE WHEN c.duration >= 0 THEN c.duration / 1e3 END AS microseconds, c.error,
           a.json AS arguments, c.stack
    FROM calls c JOIN captures p ON p.id = c.capture JOIN boundaries b ON b.id = c.boundary
    JOIN threads t ON t.id = c.thread JOIN arguments a ON a.id = c.arguments;

CREATE VIEW links_readable AS
    SELECT l.call, b.name AS function, t.label AS thread, l.how, r.function AS from_function, r.path, r.line
    FROM call_links l JOIN calls c ON c.id = l.call JOIN boundaries b ON b.id = c.boundary
    JOIN threads t ON t.id = l.thread JOIN nodes n ON n.id = l.node JOIN frames_readable r ON r.id = n.frame;

CREATE VIEW objects_readable AS
    SELECT t.name || '#' || o.number AS name, p.path AS capture, o.size AS bytes, o.uses,
           o.created_call, o.first_call, o.last_call, o.deleted_call, o.destroyed_call,
           u.name || '#' || k.number AS client
    FROM object_rows o JOIN object_types t ON t.id = o.type JOIN captures p ON p.id = t.capture
    LEFT JOIN object_rows k ON k.id = o.client LEFT JOIN object_types u ON u.id = k.type;

CREATE VIEW stacks_readable AS
    WITH RECURSIVE up(stack, chain, node) AS (
        SELECT id, 'merged', leaf FROM stacks
        UNION ALL SELECT id, 'python', python_leaf FROM stacks WHERE python_leaf
        UNION ALL SELECT id, 'site', site_leaf FROM stacks WHERE site_leaf
        UNION ALL SELECT up.stack, up.chain, n.parent FROM up JOIN nodes n ON n.id = up.node WHERE n.parent
    )
    SELECT up.stack, up.chain, n.depth, r.function, r.path, r.line, r.how
    FROM up JOIN nodes n ON n.id = up.node JOIN frames_readable r ON r.id = n.frame;

-- The innermost line of the program itself in each stack with Python: the lines in answers about costs.
CREATE VIEW user_lines_readable AS
    SELECT s.id AS stack, fn.name AS function, f.path, fr.line
    FROM stacks s JOIN nodes n ON n.id = coalesce(nullif(s.site_leaf, 0), nullif(s.python_leaf, 0), s.leaf)
    JOIN nodes u ON u.id = n.user_node JOIN frames fr ON fr.id = u.frame JOIN functions fn ON fn.id = fr.function
    JOIN files f ON f.id = fr.file;

-- Every compilation; `program` is NULL for results of a compilation cache.
CREATE VIEW compiles_readable AS
    SELECT x.call, x.capture, c.start / 1e9 AS seconds, CASE WHEN c.duration >= 0 THEN c.duration / 1e6 END AS milliseconds,
           coalesce(p.function, json_extract(noted.text, '$.function')) AS compiled, u.path, u.line, u.function, c.error,
           p.signature, noted.text AS noted, options.text AS options, x.program
    FROM compilations x JOIN calls c ON c.id = x.call LEFT JOIN programs p ON p.id = x.program
    LEFT JOIN compile_texts noted ON noted.id = x.noted LEFT JOIN compile_texts options ON options.id = x.options
    LEFT JOIN user_lines_readable u ON u.stack = c.stack;

-- Data moved between host and devices, by common properties; bytes exclude the `unsized`.
CREATE VIEW transfers_readable AS
    SELECT t.capture, t.direction, t.how AS moved_by, t.is_implicit, u.path, u.line, u.function, t.calls AS transfers,
           t.bytes, t.calls - t.sized AS unsized, t.duration / 1e6 AS milliseconds, t.latest_call
    FROM transfers t JOIN call_kinds k ON k.id = t.kind LEFT JOIN user_lines_readable u ON u.stack = k.stack;

-- Live device memory of lines, in bytes.
CREATE VIEW memory_readable AS
    SELECT m.capture, m.device, f.path, fr.line, fn.name AS function, m.at_peak, m.buffers_at_peak, m.at_end, m.most,
           m.allocated, m.buffers, m.growth, m.rounds
    FROM memory_lines m LEFT JOIN nodes n ON n.id = m.node LEFT JOIN nodes u ON u.id = n.user_node
    LEFT JOIN frames fr ON fr.id = u.frame LEFT JOIN functions fn ON fn.id = fr.function
    LEFT JOIN files f ON f.id = fr.file
    WHERE NOT m.is_by_way;

-- The waits of Python threads for the runtime.
CREATE VIEW waits_readable AS
    SELECT w.capture, t.label AS thread, w.how, f.path, fr.line, fn.name AS function, w.waits, w.unsure, w.unended,
           w.duration / 1e6 AS milliseconds, w.longest / 1e6 AS longest_milliseconds, w.longest_call,
           w.longest_run
    FROM waits w JOIN threads t ON t.id = w.thread LEFT JOIN nodes n ON n.id = w.node
    LEFT JOIN nodes u ON u.id = n.user_node LEFT JOIN frames fr ON fr.id = u.frame
    LEFT JOIN functions fn ON fn.id = fr.function LEFT JOIN files f ON f.id = fr.file;

CREATE VIEW edges_readable AS
    SELECT a.name AS caller, b.name AS callee, e.calls
    FROM code_edges e JOIN functions a ON a.id = e.caller JOIN functions b ON b.id = e.callee;

CREATE VIEW program_lines_readable AS
    SELECT p.name AS program, f.path, fr.line, fr.function, o.kind, o.name AS op, l.ops
    FROM program_lines l JOIN programs p ON p.id = l.program JOIN program_frames fr ON fr.id = l.frame
    JOIN files f ON f.id = fr.file JOIN program_ops o ON o.id = l.op;

CREATE VIEW ffi_runs_readable AS
    SELECT r.call, p.path AS capture, x.target, x.stage, j.how, s.key AS site, f.path, fr.line,
           CASE WHEN c.duration >= 0 THEN c.duration / 1e3 END AS microseconds, c.error
    FROM ffi_runs r JOIN ffi_joins j ON j.id = r.join_id JOIN ffi_candidates k ON k.join_id = j.id
    JOIN ffi_sites s ON s.id = k.site JOIN calls c ON c.id = r.call JOIN captures p ON p.id = c.capture
    JOIN ffi_functions x ON x.boundary = c.boundary LEFT JOIN nodes n ON n.id = s.user_node
    LEFT JOIN frames fr ON fr.id = n.frame LEFT JOIN files f ON f.id = fr.file;

CREATE VIEW call_sites_readable AS
    SELECT d.id AS definition, d.name AS caller, f.path, json_extract(site.value, '$[0]') AS line,
           json_extract(site.value, '$[1]') AS column, json_extract(site.value, '$[2]') AS kind,
           json_extract(site.value, '$[3]') AS callee
    FROM call_sites c JOIN definitions d ON d.id = c.definition JOIN files f ON f.id = d.file,
         json_each(c.sites) site;

CREATE VIEW lines_readable AS
    SELECT f.path, l.line, b.name AS function, l.calls, l.duration / 1e3 AS microseconds
    FROM line_calls l JOIN files f ON f.id = l.file JOIN boundaries b ON b.id = l.boundary;

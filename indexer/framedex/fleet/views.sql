-- The views of a store. `captures`, `stacks` and `frames` are read when the store is opened, `calls` and `call_kinds` by
-- each query. Views with the name of an index view have the same columns, if a store has the data.

CREATE VIEW frames_readable AS
    SELECT id, depth, language, function, path, nullif(line, 0) AS line, how, module, "offset", depth > 0 AS inlined, is_returning FROM frames;

CREATE VIEW functions_readable AS
    SELECT DISTINCT language, role, function AS name, module FROM frames;

CREATE VIEW stacks_readable AS
    SELECT s.id AS stack, s.chain, s.depth, f.depth AS inlined, f.function, f.path, nullif(f.line, 0) AS line, f.how
    FROM (
        SELECT id, 'merged' AS chain, unnest(frames) AS frame, generate_subscripts(frames, 1) - 1 AS depth FROM stacks
        UNION ALL SELECT id, 'python', unnest(python), generate_subscripts(python, 1) - 1 FROM stacks
    ) s JOIN frames f ON f.id = s.frame;

-- The innermost line of the user's program in each stack with Python frames.
CREATE VIEW user_lines_readable AS
    SELECT s.id AS stack, f.function, f.path, f.line FROM stacks s JOIN frames f ON f.id = s.user_frame AND f.depth = 0;

CREATE VIEW calls_readable AS
    SELECT c.capture, c.call AS id, p.job, p.rank, p.host, (c.start - p.started) / 1e9 AS seconds, c.boundary, c.function,
           c.thread, c.duration / 1e3 AS microseconds, c.error, c.arguments, c.stack
    FROM calls c JOIN captures p ON p.capture = c.capture;

CREATE VIEW lines_readable AS
    SELECT p.day, p.job, p.rank, p.host, k.capture, u.path, u.line, k.function, sum(k.calls)::BIGINT AS calls,
           sum(k.duration) / 1e3 AS microseconds, any_value(k.stack) AS stack
    FROM call_kinds k JOIN captures p ON p.capture = k.capture JOIN user_lines_readable u ON u.stack = k.stack GROUP BY ALL;

CREATE VIEW compiles_readable AS
    SELECT p.day, p.job, p.rank, p.host, k.capture, k.longest_call AS call, u.path, u.line, u.function, k.calls AS compiles,
           k.duration / 1e6 AS milliseconds, k.error, k.stack
    FROM call_kinds k JOIN captures p ON p.capture = k.capture LEFT JOIN user_lines_readable u ON u.stack = k.stack
    WHERE k.function IN ('PJRT_Client_Compile', 'PJRT_Compile');

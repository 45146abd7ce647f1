// Finds frames in a terminal line that VS Code does not link itself. Pure functions, without editor and files.
//
// A provider's link would replace VS Code's own links (tracebacks, compilers, grep, `file:line` of existing files, URLs),
// so those are skipped. The length of a line is capped, and every expression takes linear time.

/** A frame in a line: its range, and the path or symbol that identifies its source. Lines and columns count from 1. */
export interface FrameLink {
  readonly start: number;
  readonly length: number;
  readonly frame: Place | Symbol;
}

export interface Place {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** VS Code links the file if it exists, so our link is only for missing files. */
  readonly isNative: boolean;
}

interface Symbol {
  readonly symbol: string;
}

const MAX_LINE_LENGTH = 4_096;
const MAX_LINKS = 64;
const MAX_PATH_LENGTH = 1_024;

type LinkFinder = (line: string) => Iterable<FrameLink>;

const LINK_FINDERS: readonly LinkFinder[] = [mlirLocations, hloSources, fragments, buildPaths, addressFrames, debuggerFrames];

/** Finds the frames in a line, left to right. If two overlap, the earlier finder in `LINK_FINDERS` wins. */
export function findLinks(line: string): FrameLink[] {
  const shown = line.slice(0, MAX_LINE_LENGTH);
  const found: FrameLink[] = [];
  for (const form of LINK_FINDERS) {
    for (const link of form(shown)) {
      const isNew = found.every((each) => link.start + link.length <= each.start || each.start + each.length <= link.start);
      if (isNew && found.length < MAX_LINKS) {
        found.push(link);
      }
    }
  }
  return found.sort((one, other) => one.start - other.start);
}

/** MLIR: `loc("f":56:3)`, and each location in `callsite(...)`, `fused[...]` and `"name"("f":56:3)`. */
function* mlirLocations(line: string): Generator<FrameLink> {
  if (!/\b(?:loc|callsite|fused)\b/.test(line)) {
    return;
  }
  for (const match of line.matchAll(/"([^"\\]{1,1024})":(\d{1,9}):(\d{1,9})/g)) {
    yield place(match, match[0], match[1], match[2], match[3]);
  }
}

/** HLO: `source_file="f" source_line=74`. */
function* hloSources(line: string): Generator<FrameLink> {
  for (const match of line.matchAll(/\bsource_file="([^"\\]{1,1024})",?\s{1,8}source_line=(\d{1,9})/g)) {
    yield place(match, match[0], match[1], match[2], "1");
  }
}

/** Links in the style of public repositories and Markdown, `f#L74`; VS Code links those in URLs. */
function* fragments(line: string): Generator<FrameLink> {
  for (const word of words(line)) {
    const match = /^([^#:]{1,1024}\.\w{1,8})#L(\d{1,9})(?!\d)/.exec(word.text);
    if (match !== null) {
      yield place({ index: word.start }, match[0], match[1], match[2], "1");
    }
  }
}

const BUILD_FOLDERS = /^(?:\/proc\/self\/cwd\/|(?:\.{1,2}\/)?(?:external|bazel-out|bazel-[\w.-]{1,64})\/)/;
const SOURCE = /^((?:[\w.+@~-]{0,255}\/){1,64}[\w.+@~-]{1,255}\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|hxx|cuh|inc|inl|py|pyi|td|proto|mlir)):(\d{1,9})(?::(\d{1,9}))?(?!\d)/;

/** Paths of builds and of other machines, with a line. VS Code links them if the file exists. */
function* buildPaths(line: string): Generator<FrameLink> {
  for (const word of words(line)) {
    const match = SOURCE.exec(word.text);
    if (match !== null && (match[1]?.startsWith("/") || BUILD_FOLDERS.test(word.text))) {
      yield place({ index: word.start }, match[0], match[1], match[2], match[3] ?? "1", true);
    }
  }
}

/** absl and glog: `@  0x7f1b  112  xla::f()`; the symbol is looked up in the index. */
function* addressFrames(line: string): Generator<FrameLink> {
  const match = /^(.{0,200}?@\s{1,40}0x[0-9a-f]{1,16}\s{1,40}(?:\d{1,12}\s{1,40})?)(\S.*)$/.exec(line);
  yield* symbol(match, match?.[2] ?? "");
}

/** gdb without debug information: `#3  0x00007f in xla::f () from /lib/libtpu.so`. */
function* debuggerFrames(line: string): Generator<FrameLink> {
  const match = /^(\s{0,40}#\d{1,9}\s{1,40}(?:0x[0-9a-f]{1,16} in )?)(\S.*)$/.exec(line);
  if (match?.[2]?.includes(") from ")) {
    yield* symbol(match, match[2].slice(0, findArguments(match[2])));
  }
}

// Operators whose names contain `<` or `>`; a demangler writes a blank before template brackets after them.
const OPERATOR = /\boperator(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)/y;

/** The start of a function's arguments in gdb's output: the first ` (` outside template brackets `<...>`. */
function findArguments(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    OPERATOR.lastIndex = index;
    index = OPERATOR.test(text) ? OPERATOR.lastIndex : index;
    depth += text[index] === "<" ? 1 : text[index] === ">" ? -1 : 0;
    if (depth <= 0 && text.startsWith(" (", index)) {
      return index;
    }
  }
  return 0;
}

function* symbol(match: RegExpExecArray | null, text: string): Generator<FrameLink> {
  const name = text.trimEnd();
  if (match !== null && name !== "" && !name.startsWith("(") && name !== "??") {
    yield { start: match[1]?.length ?? 0, length: name.length, frame: { symbol: name } };
  }
}

function place(
  at: { readonly index: number },
  text: string,
  path = "",
  line = "1",
  column = "1",
  isNative = false,
): FrameLink {
  const number = (digits: string) => Math.max(1, Number.parseInt(digits, 10));
  const frame = { path: path.slice(0, MAX_PATH_LENGTH), line: number(line), column: number(column), isNative };
  return { start: at.index, length: text.length, frame };
}

/** The parts of a line between blanks, quotes and brackets that may be paths, without URLs. */
function* words(line: string): Generator<{ text: string; start: number }> {
  for (const match of line.matchAll(/[^\s"'`()[\]{}<>,;|=]+/g)) {
    if (!match[0].includes("://")) {
      yield { text: match[0], start: match.index };
    }
  }
}

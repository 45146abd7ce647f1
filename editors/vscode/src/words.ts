// Numbers in the words that people read, as `framedex.words` has them; only halves, which Python rounds to the even
// digit, are rounded up here.

const UNITS: readonly [string, number][] = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
];

/** A duration in nanoseconds with a fitting unit; a negative one stands for a call that never returned. */
export function duration(nanoseconds: number): string {
  if (nanoseconds < 0) {
    return "never returned";
  }
  // Not 1000 of a unit, but one of the next.
  const [unit, size] = UNITS.find(([, each]) => rounded(nanoseconds / each) >= 1) ?? ["ns", 1];
  return `${rounded(nanoseconds / size)} ${unit}`;
}

function rounded(value: number): number {
  return value < 1000 ? Number(value.toPrecision(3)) : Math.round(value);
}

/** A number with its noun, in the plural where it has to be. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;
}

/** A time in seconds since 1970 as people here write it. */
export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString();
}

// A word of a command line as Python's `shlex.join` writes it. A text that was cut off may leave a quote open.
const WORD = /(?:'[^']*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|[^\s'"])+/g;

/** A command by what tells it from others: its script without a folder, or a program that is no Python. */
export function shortCommand(command: string): string {
  const [program = "", script, ...given] = command.match(WORD) ?? [];
  const isScript = script !== undefined && /^python[\d.]*$/.test(nameOf(program)) && !script.startsWith("-");
  const words = isScript ? [nameOf(script), ...given] : [nameOf(program), ...(script === undefined ? [] : [script, ...given])];
  return words.join(" ") || "(no command)";
}

/** A word of a command line without its quotes, and if it is an absolute path without its folder. */
function nameOf(word: string): string {
  const meant = word.replace(/'([^']*)(?:'|$)|"((?:[^"\\]|\\.)*)(?:"|$)/g, (_, single?: string, double?: string) => single ?? double ?? "");
  return meant.replace(/^\/.*\//s, "");
}

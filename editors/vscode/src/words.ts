// Counts, times and commands in the words that people read.

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

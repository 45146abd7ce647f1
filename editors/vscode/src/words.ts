// Counts and times in the words that people read.

/** A number with its noun, in the plural where it has to be. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;
}

/** A time in seconds since 1970 as people here write it. */
export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString();
}

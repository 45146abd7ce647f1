// Formats counts and times.

/** A number with its noun, in the plural if needed. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : `${noun}s`}`;
}

/** Formats a time in seconds since 1970 in the user's locale. */
export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString();
}

// Versions of the server.

/** Whether a version is older than another; parts that are not numbers count as 0. */
export function isOlder(version: string, than: string): boolean {
  const [given, wanted] = [version, than].map((each) => each.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (const [place, number] of (wanted ?? []).entries()) {
    const difference = (given?.[place] ?? 0) - number;
    if (difference !== 0) {
      return difference < 0;
    }
  }
  return false;
}

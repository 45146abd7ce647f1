// Limits the restarts of a server that crashes.

export const MAX_CRASHES = 5;
const CRASH_WINDOW_MS = 3 * 60_000;

/** Allows restarts until the server has ended five times in three minutes; then the count starts again. */
export class RestartLimit {
  private crashes: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Whether the server, which has just ended, may be restarted. */
  mayRestart(): boolean {
    const now = this.now();
    this.crashes = [...this.crashes.filter((crash) => now - crash < CRASH_WINDOW_MS), now];
    if (this.crashes.length < MAX_CRASHES) {
      return true;
    }
    this.crashes = [];
    return false;
  }
}

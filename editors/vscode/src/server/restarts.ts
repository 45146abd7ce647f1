// How often a server that ends by itself is started again.

export const MOST_CRASHES = 5;
const WITHIN = 3 * 60_000;

/** Allows a restart until the server has ended five times in three minutes; then it counts anew. */
export class RestartLimit {
  private crashes: number[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  /** Whether the server, which has just ended, may be started again. */
  mayRestart(): boolean {
    const now = this.now();
    this.crashes = [...this.crashes.filter((crash) => now - crash < WITHIN), now];
    if (this.crashes.length < MOST_CRASHES) {
      return true;
    }
    this.crashes = [];
    return false;
  }
}

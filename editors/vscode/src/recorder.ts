// Whether the framedex that serves this editor can record programs: one for every platform lacks the native part.

import { Server } from "./server/server";

/** The answer of `framedex/recorder`. */
export interface Recorder {
  readonly canRecord: boolean;
  /** Whether another installation on this system could record. */
  readonly isSupported: boolean;
  readonly message: string | null;
  readonly remedy: string | null;
}

/** What the server answers; undefined where none runs, or one too old to know. */
export async function askRecorder(server: Server): Promise<Recorder | undefined> {
  try {
    return await server.request<Recorder>("framedex/recorder");
  } catch {
    return undefined; // a recording says itself why it fails
  }
}

// Whether the framedex that serves this editor can record programs: the wheel for every platform has no native part.

import { Server } from "./server/server";

/** The answer of `framedex/recorder`. */
export interface Recorder {
  readonly canRecord: boolean;
  /** Whether another installation on this system could record. */
  readonly isSupported: boolean;
  readonly message: string | null;
  readonly remedy: string | null;
}

/** The server's answer; undefined if no server is running or it is too old. */
export async function askRecorder(server: Server): Promise<Recorder | undefined> {
  try {
    return await server.request<Recorder>("framedex/recorder");
  } catch {
    return undefined; // a failing recording reports the reason
  }
}

// A watch over a socket: one line per event, written in bundles; slow readers are cut off. Not here: what the events are (../watch).
import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { ApiResponse } from "../../api/meta/transport.ts";

/** A reader that is this many bytes behind, beyond what existed when it came, has to start over. */
const BEHIND_BYTES_MAX = 32 * 1024 * 1024;

export function serveWatch(response: ServerResponse | Http2ServerResponse, watch: Extract<ApiResponse, { kind: "watch" }>): void {
  response.statusCode = watch.status;
  let lines: Uint8Array[] = [];
  let scheduled = false;
  let waiting = 0;
  let allowed = Number.POSITIVE_INFINITY; // what exists is sent whole
  let over = false;
  let stop: (() => void) | undefined;

  const flush = (): void => {
    scheduled = false;
    if (lines.length === 0 || response.destroyed) return;
    const bytes = lines.length === 1 ? (lines[0] as Uint8Array) : Buffer.concat(lines);
    lines = [];
    (response.write as (bytes: Uint8Array, done: () => void) => boolean).call(response, bytes, () => {
      waiting -= bytes.byteLength;
    });
  };
  response.on("close", () => {
    over = true;
    stop?.();
  });
  // The client must learn at once that the watch stands, also when nothing happens.
  (response as ServerResponse).writeHead(watch.status);
  if ("flushHeaders" in response) response.flushHeaders();
  stop = watch.subscribe({
    event(_event, encoded) {
      if (over) return false;
      const line = encoded();
      lines.push(line);
      waiting += line.byteLength;
      if (!scheduled) {
        scheduled = true;
        setImmediate(flush);
      }
      return waiting <= allowed;
    },
    end() {
      over = true;
      flush();
      response.end();
    },
  });
  allowed = waiting + BEHIND_BYTES_MAX;
  if (over) stop();
}

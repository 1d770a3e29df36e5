// A connection that left HTTP: port-forward and the like as a two-way stream of bytes. Not here: the protocol spoken on it.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { UpgradeStream } from "../../api/meta/transport.ts";

export function writeUpgradeHead(socket: Duplex, status: number, headers: Readonly<Record<string, string>>): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const close = status === 101 ? [] : ["connection: close"];
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${[...lines, ...close].join("\r\n")}\r\n\r\n`);
}

/** @param head bytes that came with the request */
export function upgradeStream(socket: Duplex, head: Uint8Array): UpgradeStream {
  const dataListeners: ((bytes: Uint8Array) => void)[] = [];
  const endListeners: (() => void)[] = [];
  const early: Uint8Array[] = head.byteLength > 0 ? [head] : [];
  let ended = false;
  socket.on("data", (bytes: Buffer) => {
    if (dataListeners.length === 0) early.push(bytes);
    for (const listener of dataListeners) listener(bytes);
  });
  const end = (): void => {
    if (ended) return;
    ended = true;
    for (const listener of endListeners) listener();
  };
  socket.on("end", end);
  socket.on("close", end);
  return {
    write: (bytes) => void (socket.writable && socket.write(bytes)),
    onData(listener) {
      dataListeners.push(listener);
      for (const bytes of early.splice(0)) listener(bytes);
    },
    onEnd(listener) {
      endListeners.push(listener);
      if (ended) listener();
    },
    end: () => void socket.end(),
  };
}

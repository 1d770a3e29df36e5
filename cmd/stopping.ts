// An orderly end: what was opened is closed in the opposite order, whatever fails. Here: waiting and closing.

export const untilStopped = (stop: AbortSignal): Promise<void> =>
  stop.aborted ? Promise.resolve() : new Promise((done) => stop.addEventListener("abort", () => done(), { once: true }));

type Close = () => void | Promise<void>;

/** Things to close, last opened first. */
export class Opened {
  readonly #closes: (readonly [name: string, close: Close])[] = [];
  readonly #complain: (line: string) => void;

  constructor(complain: (line: string) => void) {
    this.#complain = complain;
  }

  add(name: string, close: Close): void {
    this.#closes.push([name, close]);
  }

  async close(): Promise<void> {
    for (const [name, close] of this.#closes.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        this.#complain(`closing ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}

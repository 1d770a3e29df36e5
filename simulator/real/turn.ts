// One macrotask: what waits in microtasks has run when it resolves.

export const macrotask = (): Promise<void> => new Promise((done) => setImmediate(done));

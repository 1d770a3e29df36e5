// Certificates of a simulation: real ones, from a few keys that are made once per process, with times from its clock.
// An RSA key costs 25 ms and more, and a simulated fleet needs thousands of certificates, not of secrets.
import type { Clock } from "../../runtime/base/clock.ts";
import type { KeyAlgorithm, Pki } from "../../runtime/base/pki.ts";
import { createNodePki, generateKeys, type KeyObjects, pooledKeys } from "../../runtime/base/real/node-pki.ts";

const POOL_SIZE = 4;
const ALGORITHMS: readonly KeyAlgorithm[] = ["RSA-2048", "ECDSA-P256"];

let pool: Partial<Record<KeyAlgorithm, readonly KeyObjects[]>> | undefined;

const keyPool = (): Partial<Record<KeyAlgorithm, readonly KeyObjects[]>> => {
  pool ??= Object.fromEntries(ALGORITHMS.map((a) => [a, Array.from({ length: POOL_SIZE }, () => generateKeys(a))]));
  return pool;
};

/** Keys of other algorithms are made when asked for. */
export function simulationPki(clock: Pick<Clock, "nowMs">): Pki {
  const pooled = pooledKeys(keyPool());
  return createNodePki({ clock, keys: (algorithm) => (ALGORITHMS.includes(algorithm) ? pooled(algorithm) : generateKeys(algorithm)) });
}

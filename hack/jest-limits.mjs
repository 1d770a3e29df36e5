// Timings belong to benchmarks: a test's limit only ends what hangs, however busy the machine is. (Jest reads testTimeout not per project.)
import { jest } from "@jest/globals";

jest.setTimeout(120_000);

const shared = {
  testEnvironment: "node",
  setupFilesAfterEnv: ["<rootDir>/hack/jest-limits.mjs"],
  testPathIgnorePatterns: ["/node_modules/", "/dist/"],
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
  extensionsToTreatAsEsm: [".ts"],
  testEnvironmentOptions: { customExportConditions: ["source", "node", "node-addons"] },
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { parser: { syntax: "typescript", decorators: true }, target: "es2024" }, module: { type: "es6" }, sourceMaps: "inline" },
    ],
  },
};

// `unit`: beside the code, no sockets but loopback ones a test opens itself. `system`: whole worlds in process, on virtual time.
// `e2e`: processes, ports, kubectl, the package as npm installs it.
const PROCESSES = "e2e|kinds|manifests|package|server";
export default {
  projects: [
    { ...shared, displayName: "unit", testMatch: ["<rootDir>/!(test|node_modules|dist)/**/*.test.ts"] },
    { ...shared, displayName: "system", testMatch: [`<rootDir>/test/!(${PROCESSES})/**/*.test.ts`] },
    { ...shared, displayName: "e2e", testMatch: [`<rootDir>/test/(${PROCESSES})/**/*.test.ts`] },
  ],
};

export default {
  testEnvironment: "node",
  testMatch: ["<rootDir>/**/*.test.ts"],
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

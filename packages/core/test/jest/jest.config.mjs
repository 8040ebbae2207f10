/** Runs the fixture under jest as a user of it would: ESM, on the sources, without a transform for anything but types. */
export default {
  rootDir: './fixtures',
  testEnvironment: 'node',
  testMatch: ['<rootDir>/*.jest.ts'],
  testEnvironmentOptions: { customExportConditions: ['adjutant-source', 'node', 'import'] },
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/../strip-types.mjs' },
  transformIgnorePatterns: [],
};

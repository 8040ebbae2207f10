import { bundlePackages } from './scripts/bundled-packages.ts';

/** Processes that tests start use the packages as they are published. */
export const setup = bundlePackages;

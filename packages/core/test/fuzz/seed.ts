/**
 * The same values are made up each time; `FUZZ_SEED=<number>` makes up others. fast-check prints
 * the seed of what fails, and how to find it again.
 */
export const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

/**
 * The version of this package. In the code, because bundlers leave package.json behind; a test
 * holds it to that.
 */
export const packageVersion = '0.1.0';

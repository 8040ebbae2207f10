/** The first major version of Node that the program runs on; package.json says the same. */
export const oldestNode = 24;

/** Why the program cannot run on this version of Node, or `undefined` when it can. */
export function refuseOldNode(version: string): string | undefined {
  const major = Number.parseInt(version, 10);
  return major >= oldestNode
    ? undefined
    : `adjutant: Adjutant needs Node ${oldestNode} or later; this is ${version}.`;
}

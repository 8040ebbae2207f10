/** Oldest major version of Node that the program runs on. It must agree with package.json. */
const oldestNode = 24;

/** Returns the reason why the program cannot run on this version of Node. `undefined`: it can. */
export function refuseOldNode(version: string): string | undefined {
  const major = Number.parseInt(version, 10);
  return major >= oldestNode
    ? undefined
    : `adjutant: Adjutant needs Node ${oldestNode} or later; this is ${version}.`;
}

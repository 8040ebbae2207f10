import type { OptionCheck } from '../base/options.ts';

// Words parted by `:` or `.`; what is granted may end with `:*`. Each sign has one reading, so that
// the time is linear.
const neededPattern = /^[\w-]{1,64}(?:[.:][\w-]{1,64}){0,8}$/;
const grantedPattern = /^(?:\*|[\w-]{1,64}(?:[.:][\w-]{1,64}){0,8}(?::\*)?)$/;

/** True when a permission can be required: `fs:write`, `crm.read`. */
function isPermissionName(value: unknown): value is string {
  return typeof value === 'string' && neededPattern.test(value);
}

/**
 * True when a permission can be granted: a name, `*`, or one that ends with `:*` and covers all
 * names with that beginning.
 */
function isGrant(value: unknown): value is string {
  return typeof value === 'string' && grantedPattern.test(value);
}

/** Requirement on the option `requiresPermission`. */
export const isListOfPermissions: OptionCheck = (value) =>
  Array.isArray(value) && value.every(isPermissionName)
    ? undefined
    : "a list of permissions such as 'fs:write'";

/** Requirement on the option `permissions`. */
export const isListOfGrants: OptionCheck = (value) =>
  Array.isArray(value) && value.every(isGrant)
    ? undefined
    : "a list of permissions such as 'fs:write', 'fs:*' or '*'";

/**
 * The permissions that are needed and not granted, in their order. `fs:*` covers `fs:write` and
 * `fs:write:tmp`, not `fs` and not `fsx:write`; `*` covers all. Invalid names are never covered.
 */
export function missingPermissions(
  required: readonly string[],
  granted: readonly string[],
): readonly string[] {
  return required.length === 0
    ? required
    : required.filter((name) => !granted.some((grant) => covers(grant, name)));
}

function covers(grant: string, name: string): boolean {
  if (!isPermissionName(name) || !isGrant(grant)) return false;
  if (grant === '*' || grant === name) return true;
  // Compared with its last sign, which parts the words: `fs:*` covers what begins with `fs:`.
  return grant.endsWith(':*') && name.startsWith(grant.slice(0, -1));
}

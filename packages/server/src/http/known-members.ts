import type { z } from '@hono/zod-openapi';
import { nearestName } from 'adjutant/text';

const longestNameShown = 80;

/**
 * Tells of members that a schema does not have: the first one with the nearest name, or with all
 * that there are.
 */
export function unknownMembers(
  names: readonly string[],
  schema: z.ZodType | undefined,
): string | undefined {
  const { shape } = (schema?._zod.def ?? {}) as {
    readonly shape?: Readonly<Record<string, z.ZodType>>;
  };
  const [name] = names;
  if (shape === undefined || name === undefined) return undefined;
  const known = Object.keys(shape);
  const nearest = nearestName(name, known);
  const hint =
    nearest === undefined
      ? `the members are ${known.join(', ')}`
      : `did you mean ${JSON.stringify(nearest)}?`;
  const shown = name.length > longestNameShown ? `${name.slice(0, longestNameShown)}…` : name;
  const more = names.length > 1 ? `; ${names.length - 1} more are unknown too` : '';
  return `there is no member ${JSON.stringify(shown)} (${hint})${more}`;
}

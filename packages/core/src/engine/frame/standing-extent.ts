import { isNonEmptyText, type OptionCheck } from '../../base/options.ts';

/** Checks the extent of a standing approval. */
export const isStandingExtent: OptionCheck = (value) => {
  if (value === 'call' || value === 'tool') return undefined;
  const { below, ...rest } = (typeof value === 'object' && value !== null ? value : {}) as {
    below?: unknown;
  };
  const isBelow = isNonEmptyText(below) === undefined && Object.keys(rest).length === 0;
  return isBelow ? undefined : "'call', 'tool' or { below: a folder }";
};

import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/**
 * Does something, and gives the calls of tools and effects that were entered meanwhile, as the
 * channel of them says.
 */
export async function enteredBy<Report>(
  work: () => Promise<Report>,
): Promise<{ readonly report: Report; readonly entered: readonly string[] }> {
  const entered: string[] = [];
  const listen = (message: unknown): void =>
    void entered.push((message as { readonly callId: string }).callId);
  subscribe('adjutant.execution', listen);
  try {
    return { report: await work(), entered };
  } finally {
    unsubscribe('adjutant.execution', listen);
  }
}

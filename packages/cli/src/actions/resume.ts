import { openAccess } from '../access/open-access.ts';
import type { RunContext } from './carry-out.ts';

/** `adjutant resume [session]`: continues the run that the session has open. */
export async function resumeSession(context: RunContext, id: string): Promise<number> {
  const access = await openAccess(context.host, context.options);
  return access.resume(context, id);
}

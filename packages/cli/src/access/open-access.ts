import type { Host } from '../host/host.ts';
import type { AccessOptions, AppAccess } from './app-access.ts';
import { isRemote } from './server-flags.ts';

/** Returns the access that the options name. Only `--server` loads the client of a server. */
export async function openAccess(host: Host, options: AccessOptions): Promise<AppAccess> {
  if (isRemote(options)) {
    const { ServerAccess } = await import('./server-access.ts');
    return new ServerAccess(host, options);
  }
  const { LocalAccess } = await import('./local-access.ts');
  return new LocalAccess(host, options);
}

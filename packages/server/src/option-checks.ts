import { AdjutantError, type Runtime } from 'adjutant';
import type { ServerOptions } from './options.ts';

/** The server cannot be made as asked. */
export class InvalidServerError extends AdjutantError {
  constructor(data: { reason: string }) {
    super('invalid_server', `The server cannot be made: ${data.reason}.`, data);
  }
}

/** @throws InvalidServerError */
export function checkServerOptions(app: Runtime, options: ServerOptions): void {
  const isApp = typeof app === 'object' && app !== null && typeof app.run === 'function';
  if (!isApp) throw new InvalidServerError({ reason: 'the first argument must be an app: server(runtime({ app: … }))' });
  if (typeof options !== 'object' || options === null) throw new InvalidServerError({ reason: 'the options must be an object' });
}

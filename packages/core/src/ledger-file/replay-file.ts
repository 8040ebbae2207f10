import { isAdjutantError } from '../base/error.ts';
import { requestFingerprint } from '../effects/request/fingerprint.ts';
import type { Event } from '../ledger/event.ts';
import { resolverOf } from '../replay/recorded-ledger.ts';
import { checkApp, type ReplayReport, replay } from '../replay/replay.ts';
import type { ReplayOptions } from '../replay/replay-options.ts';
import { registeredRunnable } from '../replay/replaying-runtime.ts';
import type { Runtime } from '../runtime.ts';
import type { Tool } from '../tools/tool.ts';
import { lostFingerprint } from './hash-renames.ts';
import { checkLedgerFile, type LedgerFile } from './ledger-file.ts';
import { redactionNormalizer } from './normalizer.ts';
import { readLedgerFile } from './read-ledger-file.ts';

/**
 * Replays a ledger file against today's code, as `replay` does a session: every recorded run
 * becomes a regression test. What was taken out of the file is taken out of what the code does as
 * well before the two are compared; `normalize` comes after that.
 * @param path of the file, or what was read of it
 * @throws InvalidLedgerFileError, LedgerFileTooNewError, and what `replay` throws
 */
export async function replayFile(
  path: string | LedgerFile,
  app: Runtime,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  checkApp('replayFile', app);
  const file = typeof path === 'string' ? await readLedgerFile(path) : path;
  checkLedgerFile('replayFile', file);
  const redact = redactionNormalizer(file);
  const { normalize } = options;
  const source = { ...file, events: file.events.map((event) => withFingerprint(event, file, app)) };
  return replay(source, app, {
    ...options,
    normalize: normalize === undefined ? redact : (value) => normalize(redact(value)),
  });
}

/**
 * Binds a question again to the tool that it is about. The hash that did so was made of arguments
 * that were taken out; were it left as it is, the answer would count as one to another question.
 */
function withFingerprint(event: Event, { blobs }: LedgerFile, app: Runtime): Event {
  if (event.type !== 'tool_yield' || !event.fingerprint.startsWith(lostFingerprint)) return event;
  const tool = findTool(app, event.request.agent, event.name);
  return tool === undefined
    ? event
    : { ...event, fingerprint: requestFingerprint(tool, resolverOf(blobs)(event.args)) };
}

function findTool(app: Runtime, agentName: string, name: string): Tool | undefined {
  try {
    const runnable = registeredRunnable(app, agentName) as { readonly tools?: readonly Tool[] };
    return runnable.tools?.find((tool) => tool.name === name) ?? app.tools.get(name);
  } catch (error) {
    // The replay says that the agent is gone.
    if (isAdjutantError(error, 'unknown_runnable')) return app.tools.get(name);
    throw error;
  }
}

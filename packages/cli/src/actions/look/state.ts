import type { Host } from '../../host/host.ts';
import type { SourceOptions } from '../../modules/ledger-source.ts';
import { jsonLine } from '../../output/json-output.ts';
import { plainLine } from '../../output/plain-text.ts';
import { styleFor } from '../../output/style.ts';
import { scrubFacts, stateScopes } from '../../tui/scrub/scrub-facts.ts';
import { TraceIndex } from '../../tui/trace/trace-index.ts';
import { firstEvents, headOf, lookAt } from '../show.ts';

export interface StateCommandOptions extends SourceOptions {
  /** Event after which the state is shown, as its `seq`. @default the last one */
  readonly at?: number;
  readonly json?: boolean;
}

const nameWidth = 10;

/**
 * `adjutant state [session]`: shows the state of all scopes after an event, what waited then, and
 * what was done in the world up to there. Writes nothing to the session.
 */
export function showState(
  host: Host,
  id: string | undefined,
  options: StateCommandOptions,
): Promise<number> {
  return lookAt(host, id, options, (session) => {
    const { length: at } = firstEvents(session, options.at);
    const snapshot = session.stateAt(at);
    if (options.json === true) return jsonLine(snapshot);
    const index = new TraceIndex(session.events);
    const { waits, budget, effects } = scrubFacts(index, at - 1, []);
    const scopes = stateScopes(snapshot, index, Math.max(0, at - 1));
    const lines = scopes.flatMap(({ name, entries }) =>
      named(
        name,
        entries.map(({ key, text }) => `${key} ${text}`),
        'empty',
      ),
    );
    const facts = [
      ...named('waits', waits, 'nothing'),
      ...named('used', [budget], ''),
      ...named('calls', effects === '' ? [] : [effects], 'nothing'),
    ];
    return `${[headOf(styleFor(host.stdout), session, at), ...lines, ...facts].join('\n')}\n`;
  });
}

/** Lines of which the first one begins with a name. */
function named(name: string, texts: readonly string[], none: string): string[] {
  const shown = texts.length === 0 ? [none] : texts;
  return shown.map(
    (text, at) => `${plainLine(at === 0 ? name : '').padEnd(nameWidth)}${plainLine(text)}`,
  );
}

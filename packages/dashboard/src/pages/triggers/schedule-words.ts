import type { ServerTrigger } from '@adjutant/server/client';
import type { Copied } from '../../components/copy/copied-text.ts';
import { count, fullTime, plural } from '../../components/format.ts';

type Cause = Pick<ServerTrigger['on'], 'kind'> & Readonly<Record<string, unknown>>;

const units = [
  [86_400_000, 'day', 'days'],
  [3_600_000, 'hour', 'hours'],
  [60_000, 'minute', 'minutes'],
  [1_000, 'second', 'seconds'],
] as const;

/** "every 15 minutes", "every hour". */
export function intervalWords(ms: number): string {
  const [size, one, many] = units.find(([unit]) => ms >= unit && ms % unit === 0) ?? [
    1_000,
    'second',
    'seconds',
  ];
  const number = ms / size;
  return number === 1 ? `every ${one}` : `every ${number} ${many}`;
}

const days = ['Sundays', 'Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays'];
const wholeNumber = /^\d{1,2}$/;

/** Says a cron pattern in words when it is a usual one; otherwise as it is. */
export function cronWords(pattern: string): string {
  const parts = pattern.trim().split(/\s+/);
  const [minute = '', hour = '', day, month, weekday = ''] = parts;
  if (parts.length !== 5 || day !== '*' || month !== '*') return pattern;
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (hour === '*' && weekday === '*') {
    if (minute === '*') return 'every minute';
    if (step !== undefined) return `every ${step} minutes`;
    if (wholeNumber.test(minute)) return `every hour at :${minute.padStart(2, '0')}`;
  }
  if (!wholeNumber.test(minute) || !wholeNumber.test(hour)) return pattern;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  if (weekday === '*') return `every day at ${time}`;
  if (weekday === '1-5') return `Monday to Friday at ${time}`;
  const name = /^[0-7]$/.test(weekday) ? days[Number(weekday) % 7] : undefined;
  return name === undefined ? pattern : `${name} at ${time}`;
}

/** Says what a trigger fires on. @param timeOf shows a time */
export function causeWords(on: Cause, timeOf: (at: number) => string): string {
  switch (on.kind) {
    case 'cron':
      return `${cronWords(String(on['pattern']))}, ${String(on['timeZone'] ?? 'UTC')}`;
    case 'every':
      return intervalWords(Number(on['everyMs']));
    case 'at': {
      const { instant } = on as { readonly instant?: unknown };
      const at = typeof instant === 'number' ? instant : Date.parse(String(instant));
      return `once, ${Number.isNaN(at) ? String(instant) : timeOf(at)}`;
    }
    case 'event':
      return `on the event ${String(on['pattern'])}`;
    case 'condition':
      return 'when a condition comes true';
    case 'webhook':
      return 'when another system calls';
    default:
      return on.kind;
  }
}

/** True for causes whose next firings are known. */
export function hasSchedule({ kind }: Pick<Cause, 'kind'>): boolean {
  return kind === 'cron' || kind === 'every' || kind === 'at';
}

/** A trigger as it is copied. */
export function copiedTrigger(trigger: ServerTrigger): Copied {
  const { name, on, start, status, fired, failed } = trigger;
  return {
    title: `Trigger ${name}`,
    facts: [
      ['Fires', causeWords(on, fullTime)],
      ['Starts', start],
      ['Status', status],
      ['Fired', `${plural(fired, 'time')}, ${count(failed)} failed`],
    ],
    data: trigger,
    request: { path: ['triggers', name] },
  };
}

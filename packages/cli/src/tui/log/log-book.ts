/** Levels from the least to the most urgent. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line of a log. */
export interface LogEntry {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly level: LogLevel;
  /** Part of the program that wrote it; empty when it does not say. */
  readonly source: string;
  readonly text: string;
}

/** Entries that are kept: the newest ones. */
const kept = 10_000;

/** The output of code in this process while the app has the terminal. */
export class LogBook {
  #entries: LogEntry[] = [];
  #dropped = 0;

  /** The newest entries, oldest first. */
  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** Number of older entries that are not kept. */
  get dropped(): number {
    return this.#dropped;
  }

  add(entry: LogEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length < 2 * kept) return;
    this.#dropped += kept;
    this.#entries = this.#entries.slice(kept);
  }

  /** Takes a text that was written, a line at a time. Lines of JSON are read. */
  write(text: string, level: LogLevel, at: number): void {
    for (const line of text.split('\n'))
      if (line.trim() !== '')
        this.add(jsonEntry(line, level, at) ?? { at, level, source: '', text: line });
  }
}

/** Members of JSON lines, as Pino and its like name them. */
const sources = ['name', 'module', 'component', 'logger', 'scope'] as const;
const left: ReadonlySet<string> = new Set([
  ...['level', 'time', 'timestamp', 'ts', 'msg', 'message', 'pid', 'hostname', 'v'],
  ...sources,
]);

/** Reads a line of JSON that a logger wrote. `undefined`: it is none. */
function jsonEntry(line: string, level: LogLevel, at: number): LogEntry | undefined {
  if (!line.trimStart().startsWith('{')) return undefined;
  const value = parsed(line);
  if (value === undefined || (value['level'] ?? value['msg'] ?? value['message']) === undefined)
    return undefined;
  const data = Object.entries(value).filter(([name]) => !left.has(name));
  const message = String(value['msg'] ?? value['message'] ?? '');
  const rest = data.length === 0 ? '' : ` ${JSON.stringify(Object.fromEntries(data))}`;
  return {
    at: timeOf(value['time'] ?? value['timestamp'] ?? value['ts']) ?? at,
    level: levelOf(value['level']) ?? level,
    source: sources.flatMap((name) => (value[name] === undefined ? [] : [value[name]])).join('/'),
    text: `${message}${rest}`,
  };
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value) : value;
  return typeof at === 'number' && Number.isFinite(at) ? at : undefined;
}

/** The level of a name, or of a number of Pino. */
function levelOf(value: unknown): LogLevel | undefined {
  if (typeof value === 'number') {
    if (value >= 50) return 'error';
    return value >= 40 ? 'warn' : value >= 30 ? 'info' : 'debug';
  }
  if (typeof value !== 'string') return undefined;
  const name = value.toLowerCase();
  if (name.startsWith('warn')) return 'warn';
  if (['error', 'fatal', 'critical'].includes(name)) return 'error';
  if (['trace', 'debug', 'verbose'].includes(name)) return 'debug';
  return name === 'info' ? 'info' : undefined;
}

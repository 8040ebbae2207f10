import { checkOptions } from '../base/invalid-option.ts';
import { isFlag, isPositive, type OptionChecks } from '../base/options.ts';

/** Costs of one run, measured. */
export interface RunCost {
  /** Milliseconds of processor time of the worker process. */
  readonly workerMs: number;
  /** Milliseconds of processor time of PostgreSQL. */
  readonly databaseMs: number;
  /** Bytes of the write-ahead log. */
  readonly walBytes: number;
  /** Milliseconds for which it holds a connection, all statements together. */
  readonly connectionMs: number;
}

/** Machines on which runs are carried out. */
export interface Deployment {
  readonly workers: number;
  /** Processors of each worker process: JavaScript runs on one. */
  readonly coresPerWorker: number;
  readonly databaseCores: number;
  /** True when workers and database share the processors of the database. */
  readonly isShared: boolean;
  readonly connectionsPerWorker: number;
  /** Bytes of log that the disk of the database takes in a second, with its syncs. */
  readonly walBytesPerSecond: number;
}

export type Bottleneck = 'workers' | 'database' | 'wal' | 'connections';

export interface DeploymentCapacity {
  readonly runsPerSecond: number;
  readonly bottleneck: Bottleneck;
  /** Runs a second that each part would allow by itself, the tightest first. */
  readonly limits: readonly (readonly [Bottleneck, number])[];
}

const costChecks: OptionChecks<RunCost> = {
  workerMs: isPositive,
  databaseMs: isPositive,
  walBytes: isPositive,
  connectionMs: isPositive,
};
const deploymentChecks: OptionChecks<Deployment> = {
  workers: isPositive,
  coresPerWorker: isPositive,
  databaseCores: isPositive,
  isShared: isFlag,
  connectionsPerWorker: isPositive,
  walBytesPerSecond: isPositive,
};

/**
 * Returns the runs a second that a deployment can carry out, by the tightest of its parts. It
 * assumes that the costs of a run do not grow with the number of workers, and that a part can be
 * used up to its end; plan for 70 % of the answer.
 * @throws InvalidOptionError
 */
export function capacityOf(cost: RunCost, deployment: Deployment): DeploymentCapacity {
  checkOptions('capacityOf', cost, costChecks);
  checkOptions('capacityOf', deployment, deploymentChecks);
  const { connectionsPerWorker, coresPerWorker, databaseCores, isShared, walBytesPerSecond } =
    deployment;
  const { workers } = deployment;
  const databaseMs = isShared ? cost.databaseMs + cost.workerMs : cost.databaseMs;
  const limits: (readonly [Bottleneck, number])[] = [
    ['workers', (workers * coresPerWorker * 1_000) / cost.workerMs],
    ['database', (databaseCores * 1_000) / databaseMs],
    ['wal', walBytesPerSecond / cost.walBytes],
    ['connections', (workers * connectionsPerWorker * 1_000) / cost.connectionMs],
  ];
  limits.sort(([, one], [, other]) => one - other);
  const [[bottleneck, runsPerSecond]] = limits as [readonly [Bottleneck, number]];
  return { runsPerSecond, bottleneck, limits };
}

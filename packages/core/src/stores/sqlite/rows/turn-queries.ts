import { turnColumns } from './turn-columns.ts';
import { turnConditions } from './turn-step.ts';

const is = turnConditions;
const columns = turnColumns.join(', ');
const columnsOfTurn = turnColumns.map((column) => `turns.${column}`).join(', ');
const level = 'app = $app and queue = $queue and level = $level';
const oldest = 'order by since, ledger limit 1';
/** Condition of turns that a worker with certain names serves. */
const named = "(runnable = '' or runnable in (select value from json_each($names)))";
const flowColumns = 'app, queue, level, tenant, requester, virtual_time, ready';

/** The oldest of the oldest turns of several names, each found by one step into an index. */
function oldestOfNames(index: string, condition: string): string {
  return `select ${columnsOfTurn} from json_each($names) as names cross join turns
    where turns.ledger = (select ledger from turns indexed by ${index}
      where ${is.ready} and ${condition} and runnable = names.value ${oldest})
    order by turns.since, turns.ledger limit 1`;
}

function oldestReady(index: string, condition: string): string {
  return `select ${columns} from turns indexed by ${index}
    where ${is.ready} and ${condition} ${oldest}`;
}

function busyFlows(index: string, condition: string): string {
  return `select ${flowColumns} from flows indexed by ${index}
    where ${is.busy} and ${condition} order by virtual_time, tenant, requester`;
}

function count(index: string, condition: string, condition2: string): string {
  return `select count(*) as number from turns indexed by ${index}
    where ${condition} and ${condition2}`;
}

function waiting(index: string, condition: string): string {
  return `select count(*) as number from (select 1 from turns indexed by ${index}
    where ${is.waiting} and app = $app and queue = $queue and ${condition} limit $most)`;
}

const ofFlow = `${level} and tenant = $tenant and requester = $requester`;
const byIds = 'app = $app and tenant = $tenant';

/**
 * Texts of all queries of turns. Each names its index: SQLite refuses the text when it could not
 * use that, so none reads all turns.
 */
export const turnQueries = {
  turn: `select ${columns} from turns where ledger = $ledger`,
  oldestOfLevel: oldestReady('turns_ready', level),
  oldestOfTenant: oldestReady('turns_ready_of_tenant', `${level} and tenant = $tenant`),
  oldestOfLevelNamed: oldestOfNames('turns_ready_of_name', level),
  oldestOfTenantNamed: oldestOfNames('turns_ready_of_name', `${level} and tenant = $tenant`),
  oldestOfFlow: oldestReady('turns_of_flow', ofFlow),
  oldestOfFlowNamed: oldestOfNames('turns_of_flow_by_name', ofFlow),
  busyFlows: busyFlows('flows_busy', level),
  busyFlowsOfTenant: busyFlows('flows_busy_of_tenant', `${level} and tenant = $tenant`),
  flow: `select ${flowColumns} from flows where ${ofFlow}`,
  held: count('turns_held', is.held, 'app = $app and key_name = $key'),
  readyOfKey: count('turns_ready_of_key', is.readyOfKey, 'app = $app and key_name = $key'),
  turnsReadyOfKey: `select ${columns} from turns indexed by turns_ready_of_key
    where ${is.readyOfKey} and app = $app and key_name = $key`,
  turnsNextOfRate: `select ${columns} from turns indexed by turns_next_of_rate
    where ${is.nextOfRate} and app = $app and rate_name = $rate`,
  readyOfFlow: count('turns_of_flow', is.ready, ofFlow),
  holders: `select session from turns indexed by turns_held
    where ${is.held} and app = $app and key_name = $key order by since, ledger`,
  behindKey: `select ${columns} from turns indexed by turns_behind_key
    where ${is.behindKey} and app = $app and key_name = $key ${oldest}`,
  nextOfRate: count('turns_next_of_rate', is.nextOfRate, 'app = $app and rate_name = $rate'),
  behindRate: `select ${columns} from turns indexed by turns_behind_rate
    where ${is.behindRate} and app = $app and rate_name = $rate ${oldest}`,
  rateAt: 'select at from rates where app = $app and rate = $rate',
  due: `select ${columns} from turns indexed by turns_resting
    where ${is.resting} and app = $app and ready_at <= $now order by ready_at, ledger limit $limit`,
  takenWith: `select ${columns} from turns indexed by turns_taken
    where ${is.taken} and app = $app and ticket = $ticket order by taken_at, ledger`,
  working: count('turns_taken', is.taken, 'app = $app and queue = $queue and is_control = 0'),
  owners: `select distinct owner from turns indexed by turns_taken
    cross join ledgers on ledgers.id = turns.ledger
    where ${is.taken} and turns.app = $app and owner is not null and lease_until > $now`,
  lost: `select ${columnsOfTurn} from turns indexed by turns_taken
    left join ledgers on ledgers.id = turns.ledger
    where ${is.taken} and turns.app = $app and (owner is null or lease_until is null
      or lease_until <= $now or owner in (select value from json_each($gone)))
    order by taken_at, ledger`,
  controlDue: `select ${columns} from turns indexed by turns_control
    where ${is.control} and app = $app and control_at <= $now
    and ($tenant is null or tenant = $tenant) and ($names is null or ${named})
    order by control_at, ledger limit $limit`,
  firstResting: `select ready_at as at from turns indexed by turns_resting
    where ${is.resting} and app = $app order by ready_at limit 1`,
  firstControl: `select control_at as at from turns indexed by turns_control
    where ${is.control} and app = $app order by control_at limit 1`,
  waitingOfQueue: waiting('turns_waiting', 'true'),
  waitingOfLevel: waiting('turns_waiting', 'level = $level'),
  waitingOfTenant: waiting('turns_waiting_of_tenant', 'tenant = $tenant'),
  waitingOfRequester: waiting(
    'turns_waiting_of_tenant',
    'tenant = $tenant and requester = $requester',
  ),
  joinable: `select ${columns} from turns indexed by turns_joinable
    where ${is.joinable} and ${byIds} and requester = $requester and coalesce_key = $coalesceKey
    ${oldest}`,
  dueWithoutTurn: `select id as ledger, tenant, app, session, since, owner,
      lease_until as leaseUntil
    from (
      select id, min(since) as since from (
        select id, wake_at as since from ledgers indexed by ledgers_to_wake_without_turn
          where ${is.wakesWithoutTurn} and wake_at <= $now
        union all
        select ledger, min(at) from inbox indexed by inbox_without_turn
          where ${is.withoutTurn} group by ledger)
      group by id
    ) join ledgers using (id)
    where session is not null and app = $app and ($tenant is null or tenant = $tenant)
    order by since, id`,
} as const;

/** Texts of the changes of turns. */
export const turnChanges = {
  insert: `insert into turns (${columns}) values (${turnColumns.map(() => '?').join(', ')})`,
  update: `update turns set (${columns}) = (${turnColumns.map(() => '?').join(', ')})
    where ledger = ?`,
  remove: 'delete from turns where ledger = $ledger',
  saveFlow: `insert into flows (${flowColumns}) values (?, ?, ?, ?, ?, ?, ?)
    on conflict do update set virtual_time = excluded.virtual_time, ready = excluded.ready`,
  countPick: `insert into picks (app, queue, level, picks) values ($app, $queue, $level, 1)
    on conflict do update set picks = picks + 1 returning picks`,
  saveRateAt: `insert into rates (app, rate, at) values ($app, $rate, $at)
    on conflict do update set at = excluded.at`,
} as const;

/** Text of the list of turns of one tenant and app. */
export function turnList(conditions: string): string {
  return `select ${columns} from turns where ${conditions} order by since, ledger limit ?`;
}

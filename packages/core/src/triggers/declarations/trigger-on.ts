import type { Schedule } from '../schedules/schedule.ts';
import type { ConditionTrigger } from './condition.ts';
import type { EventTrigger } from './event.ts';
import type { WebhookTrigger } from './webhook.ts';

/** Everything that a trigger can fire on. */
export type TriggerOn = Schedule | EventTrigger | ConditionTrigger | WebhookTrigger;

import type {
  NewTrigger,
  ServerTrigger,
  TriggerChange,
  TriggerSchedule,
} from '@adjutant/server/client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import { useAct } from '../../components/use-act.ts';
import { hasSchedule } from './schedule-words.ts';

const mostListed = 1_000;
/** Milliseconds after which triggers are read again: their firings are no changes of sessions. */
const againMs = 10_000;

export function useTriggers() {
  return useQuery({
    queryKey: ['triggers', 'list'],
    queryFn: ({ signal }) => api.triggers.list({ limit: mostListed }, { signal }),
    refetchInterval: againMs,
  });
}

export function useTrigger(name: string) {
  return useQuery({
    queryKey: ['triggers', 'one', name],
    queryFn: ({ signal }) => api.triggers.get(name, { signal }),
    refetchInterval: againMs,
  });
}

export function useHistory(name: string) {
  return useQuery({
    queryKey: ['triggers', 'history', name],
    queryFn: ({ signal }) => api.triggers.history(name, { limit: 100, signal }),
    refetchInterval: againMs,
  });
}

/** The next firings of a trigger with a schedule. */
export function useNextFirings({ name, on, status, revision }: ServerTrigger) {
  return useQuery({
    queryKey: ['triggers', 'next', name, revision],
    queryFn: ({ signal }) => api.triggers.preview(name, { count: 5, signal }),
    enabled: hasSchedule(on) && status === 'active',
  });
}

/** The next firings of a schedule that is not saved yet. */
export function usePreview(schedule: TriggerSchedule | undefined) {
  return useQuery({
    queryKey: ['trigger-preview', schedule],
    queryFn: ({ signal }) =>
      api.triggers.preview(schedule as TriggerSchedule, { count: 3, signal }),
    enabled: schedule !== undefined,
  });
}

export interface Firings {
  readonly name: string;
  readonly instants: readonly number[];
}

/** Triggers whose firings of a day are shown at most. */
const mostShown = 20;

/** The firings of the next hours, by trigger. */
export function useFirings(triggers: readonly ServerTrigger[]) {
  const scheduled = triggers
    .filter(({ on, status }) => status === 'active' && hasSchedule(on))
    .slice(0, mostShown);
  return useQuery({
    queryKey: ['triggers', 'day', scheduled.map(({ name, revision }) => `${name} ${revision}`)],
    queryFn: ({ signal }): Promise<readonly Firings[]> =>
      Promise.all(
        scheduled.map(async ({ name }) => ({
          name,
          instants: await api.triggers.preview(name, { count: 100, signal }),
        })),
      ),
    enabled: scheduled.length > 0,
    staleTime: 60_000,
  });
}

export interface TriggerActs {
  readonly isBusy: boolean;
  readonly pause: (name: string) => void;
  readonly disable: (trigger: Pick<ServerTrigger, 'name' | 'status'>) => void;
  readonly resume: (name: string) => void;
  readonly fire: (name: string) => void;
  readonly remove: (name: string) => Promise<boolean>;
  readonly create: (trigger: NewTrigger) => Promise<boolean>;
  readonly change: (name: string, change: TriggerChange) => Promise<boolean>;
}

const changes = [['triggers'], ['tasks']];

/** Acts on triggers. A trigger that is stopped can be started again for ten seconds. */
export function useTriggerActs(): TriggerActs {
  const { act, isBusy } = useAct();
  return useMemo(() => {
    const resume = (name: string): Promise<void> => api.triggers.resume(name);
    return {
      isBusy,
      pause: (name) =>
        void act({
          run: () => api.triggers.pause(name),
          done: `“${name}” is paused.`,
          undo: () => resume(name),
          changes,
        }),
      disable: ({ name, status }) =>
        void act({
          run: () => api.triggers.disable(name),
          done: `“${name}” is disabled.`,
          undo: async () => {
            await resume(name);
            // One that was paused before is so again.
            if (status === 'paused') await api.triggers.pause(name);
          },
          changes,
        }),
      resume: (name) => void act({ run: () => resume(name), changes }),
      fire: (name) =>
        void act({
          run: () => api.triggers.fire(name),
          done: `“${name}” was fired by hand.`,
          changes,
        }),
      remove: (name) => act({ run: () => api.triggers.delete(name), changes }),
      create: (trigger) => act({ run: () => api.triggers.create(trigger), changes }),
      change: (name, change) => act({ run: () => api.triggers.update(name, change), changes }),
    };
  }, [act, isBusy]);
}
